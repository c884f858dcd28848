// A shop of six hosts in one process, joined by Net.Zlink over tcp: a registry, three stocks that serve orders, a source of live prices,
// and a web front with a gateway.
using System.CommandLine;
using Samples.Shop;

var url = new Option<string>("--url") { Description = "Where the page is.", DefaultValueFactory = static _ => "http://127.0.0.1:5080" };
var demo = new Option<bool>("--demo") { Description = "Orders for some seconds, drains a stock meanwhile, checks all figures, and ends." };
var command = new RootCommand("A web shop over Net.Zlink.") { url, demo };
command.SetAction(async (arguments, cancellation) =>
{
    await using Cluster cluster = await Cluster.StartAsync(arguments.GetValue(url)!, isQuiet: arguments.GetValue(demo), cancellation);
    if (arguments.GetValue(demo))
    {
        return await Demo.RunAsync(cluster, cancellation);
    }

    Console.WriteLine($"The shop is open at {cluster.Address}. Ctrl+C closes it.");
    await cluster.WaitForShutdownAsync(cancellation);
    return 0;
});
return await command.Parse(args).InvokeAsync();
