using System.CommandLine;
using Net.Zlink;
using Samples;
using Samples.WebSocketChat;

Option<int> port = Sample.Number("--port", "Where the page is: http://127.0.0.1:port; 0: any free one", 8080, 0, 65_535);
var endpoint = new Option<string>("--endpoint", "-e")
{
    Description = "Where the chat listens for the page's WebSocket; port 0: any free one",
    HelpName = "ws://host:port/path",
    DefaultValueFactory = _ => "ws://127.0.0.1:0/chat",
};
var command = new RootCommand("A chat for browser tabs: one page, and a STREAM socket on ws:// that it talks to.") { port, endpoint };

return await Sample.RunAsync("WebSocketChat", command, args, async (given, cancellation) =>
{
    await using PageServer page = await PageServer.StartAsync(given.GetValue(port)).ConfigureAwait(false);
    await using var context = new ZlinkContext();
    await using StreamSocket stream = context.CreateStream(
        new StreamOptions { MaxMessageSize = ChatRoom.LongestFrame, SendHighWaterMark = ChatRoom.MostUnread });

    // A browser lets every page that it shows connect to this machine: only ours may. A peer that is no browser sends no origin and passes.
    stream.Options.WebSocket.AllowedOrigins.UnionWith(page.Origins);
    var capacity = new ChatRoom();
    page.Endpoint = stream.Bind(given.GetValue(endpoint)!, capacity);

    Console.WriteLine($"READY {page.Address} (chat at {page.Endpoint}); open it in two tabs. Ctrl-C stops.");
    try
    {
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellation, page.Stopping);
        await Task.Delay(Timeout.Infinite, stop.Token).ConfigureAwait(false);
    }
    catch (OperationCanceledException)
    {
        Console.WriteLine(capacity.Summary);
    }

    return null;
}).ConfigureAwait(false);
