using Net.Zlink.Conformance.Tests.Replay.Driving;
using Net.Zlink.Monitoring;
using Net.Zlink.Porting;
using Net.Zlink.Tests.Support;

namespace Net.Zlink.Conformance.Tests.Sides;

/// <summary>The monitor of a side: the events that transcripts name, by their native names.</summary>
internal sealed class SideMonitor(EventReader monitor, Func<SocketEvent, string> connectionOf) : IDisposable
{
    public const SocketEventTypes Watched = SocketEventTypes.Disconnected | SocketEventTypes.ConnectionReady
        | SocketEventTypes.HandshakeFailedNoDetail | SocketEventTypes.HandshakeFailedProtocol;

    public bool TryRead(out ReceivedEvent received)
    {
        while (monitor.TryRead(out SocketEvent socketEvent))
        {
            if ((socketEvent.Type & Watched) != SocketEventTypes.None)
            {
                received = Named(socketEvent);
                return true;
            }
        }

        received = null!;
        return false;
    }

    public async ValueTask<ReceivedEvent> ReadAsync(CancellationToken cancellation)
    {
        try
        {
            while (true)
            {
                SocketEvent socketEvent = await monitor.ReadAsync(cancellation);
                if ((socketEvent.Type & Watched) != SocketEventTypes.None)
                {
                    return Named(socketEvent);
                }
            }
        }
        catch (ObjectDisposedException fault)
        {
            throw new ReplayFailedException("the socket is closed: no further event will come", fault);
        }
    }

    public void Dispose() => monitor.Dispose();

    private ReceivedEvent Named(in SocketEvent socketEvent)
    {
        string name = socketEvent.Type switch
        {
            SocketEventTypes.ConnectionReady => "CONNECTION_READY",
            SocketEventTypes.Disconnected => "DISCONNECTED",
            SocketEventTypes.HandshakeFailedNoDetail => "HANDSHAKE_FAILED_NO_DETAIL",
            _ => "HANDSHAKE_FAILED_PROTOCOL",
        };
        return new ReceivedEvent(name, socketEvent.ToNativeValue(), socketEvent.RoutingId.ToArray(), connectionOf(socketEvent))
        {
            LocalPort = Uri.TryCreate(socketEvent.LocalAddress, UriKind.Absolute, out Uri? local) ? Math.Max(0, local.Port) : 0,
        };
    }
}
