// Three SPOT nodes, each a process of its own, behind a registry in this one. Bots walk over a map of 24 x 24 zones; each publishes where
// it is on the topic of its zone, and subscribes that zone and its neighbours, whichever node they belong to.
using System.CommandLine;
using System.Globalization;
using Net.Zlink;
using Net.Zlink.Services;
using Samples;
using Samples.GameRooms;

if (args is ["node", .. var role])
{
    return await NodeProcess.RunAsync(role).ConfigureAwait(false);
}

const int Nodes = 3;
Option<int> port = Sample.Number("--port", "Where the page is: http://127.0.0.1:port; 0: any free one", 8081, 0, 65_535);
var demo = new Option<bool>("--demo") { Description = "Check that every bot hears every neighbour once, and end" };
var command = new RootCommand("Zones of a game on three SPOT nodes, with a page that shows them.") { port, demo };

return await Sample.RunAsync("GameRooms", command, args, async (given, cancellation) =>
{
    await using var context = new ZlinkContext();
    await using var registry = new ServiceRegistry(context,
        new ServiceRegistryOptions
        {
            PublisherEndpoint = "tcp://127.0.0.1:*",
            RouterEndpoint = "tcp://127.0.0.1:*",
            HeartbeatTimeout = TimeSpan.FromSeconds(given.GetValue(demo) ? 60 : 6),
        });
    registry.Start();
    ChildProcess Start(int page, string mode) => ChildProcess.Start(ChildProcess.ThisProgram("node", registry.PublisherEndpoint,
        registry.RouterEndpoint, Nodes.ToString(CultureInfo.InvariantCulture), page.ToString(CultureInfo.InvariantCulture), mode));
    return given.GetValue(demo) ? await Demo.RunAsync(() => Start(-1, "demo"), Nodes, cancellation).ConfigureAwait(false)
        : await Game.RunAsync(page => Start(page, "game"), Nodes, given.GetValue(port), cancellation).ConfigureAwait(false);
}).ConfigureAwait(false);
