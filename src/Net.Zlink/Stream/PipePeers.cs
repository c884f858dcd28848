using Net.Zlink.Monitoring;
using Net.Zlink.Sockets;
using Net.Zlink.Sockets.Endpoints;
using Net.Zlink.Transports;

namespace Net.Zlink;

internal sealed class PipePeers(Func<StreamPipe, Task>? handler) : IPeerFactory
{
    public StreamPipe? Made { get; private set; }

    public uint Create(StreamHub hub, Wire wire, StreamSettings settings, RedactedEndpoint endpoint, IConnectionOrigin origin)
    {
        if (wire.RemoteEndPoint is null)
        {
            wire.Dispose();
            return 0;
        }

        StreamLink link = hub.Links.Register(endpoint, origin, wire);
        var sink = new PipeSink(hub, link, wire, settings.Connection);
        FramedPeers.Report(hub, link, wire);
        hub.Announce(link);
        var pipe = new StreamPipe(sink);
        Made = pipe;
        // On a stack of its own: it may block before it returns its task.
        _ = ServeAsync(hub, sink, handler is null ? Task.CompletedTask : Task.Run(() => HandleAsync(hub, sink, pipe, handler)));
        sink.Start();
        return link.Id;
    }

    private static async Task ServeAsync(StreamHub hub, PipeSink sink, Task handling)
    {
        await sink.WaitForEndAsync(handling).ConfigureAwait(false);
        hub.OnClosed(sink.Link);
    }

    private static async Task HandleAsync(StreamHub hub, PipeSink sink, StreamPipe pipe, Func<StreamPipe, Task> handle)
    {
        DisconnectReason reason = DisconnectReason.Local;
        try
        {
            await handle(pipe).ConfigureAwait(false);
        }
        catch (Exception exception) when (sink.HasReported(exception))
        {
            // The handler failed with the end of its connection, which a peer's reset causes. The peer's end reports it.
        }
        catch (Exception exception)
        {
            reason = DisconnectReason.HandlerFailed;
            hub.ReportFault(sink.Link, exception);
        }

        sink.Complete(reason);
    }
}
