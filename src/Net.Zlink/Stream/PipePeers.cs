using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Sockets;
using Net.Zlink.Transports;

namespace Net.Zlink;

internal sealed class PipePeers(Func<StreamPipe, Task>? handler) : IPeerFactory
{
    public StreamPipe? Made { get; private set; }

    public Connection Create(StreamHub hub, StreamLink link, Wire wire, StreamSettings settings)
    {
        var sink = new PipeSink(hub, link, wire, settings.Connection);
        var pipe = new StreamPipe(sink);
        Made = pipe;
        // On a stack of its own: it may block before it returns its task.
        sink.Handle = handler is null ? null : () => HandleAsync(hub, sink, pipe, handler);
        return sink.Connection;
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
