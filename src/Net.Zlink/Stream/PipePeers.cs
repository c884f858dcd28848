using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Sockets;
using Net.Zlink.Sockets.Endpoints;
using Net.Zlink.Transports;
using Net.Zlink.Transports.WebSocket;

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
        var connection = new PipeConnection(wire, hub.Host.Pool, hub.Host.Time, settings.Connection,
            hub.Host.Shards.For(wire));
        link.Pipe = connection;
        FramedPeers.Report(hub, link, wire);
        hub.Announce(link);
        Made = new StreamPipe(connection, wire is WebSocketWire web ? new PipeInput(connection, web) : connection.Input, link.Id);
        _ = ServeAsync(hub, link, connection, Made);
        return link.Id;
    }

    private async Task ServeAsync(StreamHub hub, StreamLink link, PipeConnection connection, StreamPipe pipe)
    {
        // Leave the accept loop's stack.
        await Task.CompletedTask.ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
        Task running = connection.RunAsync();
        // On a stack of its own: it may block before it returns its task.
        Task handling = handler is null ? Task.CompletedTask : Task.Run(() => HandleAsync(handler));
        await running.ConfigureAwait(false);
        // It may never return; a shutdown waits for it until its deadline only.
        await Task.WhenAny(handling, connection.Abandoned).ConfigureAwait(false);
        hub.EndPeer(link, connection.EndReason, connection.EndDetail);
        hub.OnClosed(link);

        async Task HandleAsync(Func<StreamPipe, Task> handle)
        {
            try
            {
                await handle(pipe).ConfigureAwait(false);
            }
            catch (Exception exception) when (connection.HasNotified(exception))
            {
                // The handler failed with the end of its connection, which a peer's reset causes. The peer's end reports it.
            }
            catch (Exception exception)
            {
                connection.NoteEnd(DisconnectReason.HandlerFailed);
                hub.ReportFault(link, exception);
            }

            await pipe.DisposeAsync().ConfigureAwait(false);
        }
    }
}
