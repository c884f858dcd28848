using System.CommandLine;
using System.Globalization;

namespace Net.Zlink.Tool.Commands;

internal static class StreamCommand
{
    public static Command Create(ZlinkTool tool)
    {
        ToolOptions options = tool.Options;
        var echo = new Option<bool>("--echo") { Description = "Send each received frame back" };
        return tool.Create("stream",
            "Sends frames and prints those that come (socket type STREAM: each frame is a length of 4 bytes and that many bytes).",
            """
              zlink stream --bind tcp://*:5558 --echo          sends back what any program sends
              zlink stream tcp://127.0.0.1:5558 hello -n 1     sends a frame and prints one
            """,
            [
                options.Endpoint, options.Parts, options.Bind, echo, options.Count, options.Rate, options.Timeout, options.Format,
                .. options.Tls,
            ],
            async run =>
            {
                StreamSocket socket = run.Context.CreateStream(run.Secured(new StreamOptions()));
                if (run.Get(options.Bind))
                {
                    run.ReportListening(socket.Bind(run.Endpoint));
                }
                else
                {
                    uint peer = await socket.ConnectAsync(run.Endpoint, run.Token).ConfigureAwait(false);
                    await SendAsync(run, socket.To(peer)).ConfigureAwait(false);
                }

                await ReceiveAsync(run, socket, run.Get(echo), endsWithPeer: !run.Get(options.Bind)).ConfigureAwait(false);
            });
    }

    private static async Task SendAsync(CommandRun run, PeerSender peer)
    {
        await foreach (byte[][] parts in run.MessagesAsync(run.Token).ConfigureAwait(false))
        {
            foreach (byte[] frame in parts)
            {
                await peer.SendAsync(frame, run.Token).ConfigureAwait(false);
            }
        }
    }

    private static async Task EchoAsync(CommandRun run, PeerSender peer, ReadOnlyMemory<byte> frame)
    {
        try
        {
            await peer.SendAsync(frame, run.Token).ConfigureAwait(false);
        }
        catch (ZlinkException e) when (e.Error is ZlinkError.HostUnreachable)
        {
            // It has left, and the others go on.
        }
    }

    private static async Task ReceiveAsync(CommandRun run, StreamSocket socket, bool echo, bool endsWithPeer)
    {
        while (!run.IsComplete)
        {
            using StreamMessage message = await socket.ReceiveAsync(run.Token).ConfigureAwait(false);
            if (message.Kind is StreamMessageKind.Data)
            {
                if (echo)
                {
                    await EchoAsync(run, socket.To(message.PeerId), message.Payload).ConfigureAwait(false);
                }

                run.Print([message.Payload], message.PeerId.ToString(CultureInfo.InvariantCulture));
            }
            else if (message.Kind is StreamMessageKind.Disconnected && endsWithPeer)
            {
                throw new ToolException($"the peer ended the connection: {message.Reason}");
            }
        }
    }
}
