using System.Net.Sockets;
using Net.Zlink.Monitoring;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Transports;

namespace Net.Zlink.Sockets.Zmp;

internal sealed class ZmpListener(SocketCore socket, ITransportListener listener, string text, ZmpSettings settings) : IAcceptSink
{
    private readonly CancellationTokenSource _closing = new();
    private volatile bool _isClosed;

    public string Text => text;

    public RedactedEndpoint Endpoint { get; } = listener.Endpoint;

    public ITransportListener Listener => listener;

    public bool IsClosed => _isClosed;

    public TimeSpan? Linger { get; set; }

    /// <summary>Publishes the event before another thread can find and close the listener.</summary>
    public void Announce()
    {
        socket.Host.OwnEndpoints.Enter(listener.Endpoint);
        socket.Monitors.Publish(SocketEventTypes.Listening, listener.Handle, Endpoint, "");
    }

    public void Start() => listener.Start(this, socket.Host.Time);

    public void Close(bool keepsPeers = false)
    {
        _isClosed = !keepsPeers;
        Interlocked.MemoryBarrier(); // Before the caller searches for this listener's connections.
        socket.Host.OwnEndpoints.Leave(listener.Endpoint); // Before the address is free: the next listener there registers it after this.
        listener.Close();
        _closing.Cancel(); // Nothing would serve connections that are in their handshake.
        socket.Monitors.Publish(SocketEventTypes.Closed, listener.Handle, Endpoint, "");
    }

    public void OnAccepted(Wire accepted)
    {
        Interlocked.Increment(ref socket.Counters.Accepted);
        string? refusal = socket.Endpoints.AcquireConnection();
        if (refusal is null && !socket.Enter())
        {
            socket.Endpoints.ReleaseConnection();
            refusal = "the socket is closed";
        }

        if (refusal is not null)
        {
            Interlocked.Increment(ref socket.Counters.Refused);
            socket.Monitors.Publish(SocketEventTypes.ConnectionRefused, 0, Endpoint,
                accepted.RemoteText(Endpoint), detail: refusal);
            socket.Host.Warnings.ConnectionRefused(Endpoint, refusal);
            accepted.Dispose();
            return;
        }

        if (listener.Upgrade is { } upgrade)
        {
            _ = UpgradeAsync(upgrade, accepted);
        }
        else
        {
            Begin(accepted);
        }
    }

    public void OnAcceptFailed(SocketError error, TimeSpan backOff)
    {
        Interlocked.Increment(ref socket.Counters.AcceptErrors);
        EndpointEvents.AcceptFailed(socket.Monitors, socket.Host, Endpoint, error, backOff);
    }

    public void OnListenerClosed(SocketError error)
    {
        socket.Endpoints.Forget(this);
        EndpointEvents.ListenerFailed(socket.Monitors, socket.Host, listener.Handle, Endpoint, error);
    }

    private async Task UpgradeAsync(WireUpgrade upgrade, Wire accepted)
    {
        bool begun = false;
        try
        {
            UpgradeResult result = await TransportHandshake.AcceptAsync(
                upgrade, accepted, Endpoint, socket.Host, socket.Monitors, _closing.Token).ConfigureAwait(false);
            if (result.Wire is not null)
            {
                begun = true;
                Begin(result.Wire);
            }
            else
            {
                socket.Counters.FailedHandshakes.Count(result.Cause);
            }
        }
        finally
        {
            if (!begun)
            {
                socket.Endpoints.ReleaseConnection();
                socket.Leave();
            }
        }
    }

    private void Begin(Wire wire)
    {
        var link = new WireLink(socket, settings) { Endpoint = Endpoint, IsActive = false };
        var session = new ZmpSession(socket, settings, link, wire, Endpoint, this);
        if (!wire.HadHandshake)
        {
            socket.Events.Publish(SocketEventTypes.Accepted, wire.Handle, session, detail: null);
        }

        socket.Endpoints.Track(session);
        session.Start();
    }
}
