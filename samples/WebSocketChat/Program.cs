using System.CommandLine;
using Net.Zlink;
using Samples;
using Samples.WebSocketChat;

Option<int> port = Sample.Number("--port", "Where page and chat are: http://127.0.0.1:port; 0: any free one", 8080, 0, 65_535);
var command = new RootCommand("A chat for browser tabs: one page, and a STREAM socket that it talks to.") { port };

return await Sample.RunAsync("WebSocketChat", command, args, async (given, cancellation) =>
{
    await using var context = new ZlinkContext();
    await using StreamSocket stream = context.CreateStream(
        new StreamOptions { MaxMessageSize = ChatRoom.LongestFrame, SendHighWaterMark = ChatRoom.MostUnread });
    var room = new ChatRoom();
    await using PageServer page = await PageServer.StartAsync(given.GetValue(port), stream, room).ConfigureAwait(false);
    Console.WriteLine($"READY {page.Address} (chat at {page.Endpoint}); open it in two tabs. Ctrl-C stops.");
    try
    {
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellation, page.Stopping);
        await Task.Delay(Timeout.Infinite, stop.Token).ConfigureAwait(false);
    }
    catch (OperationCanceledException)
    {
        Console.WriteLine(room.Summary);
    }

    return null;
}).ConfigureAwait(false);
