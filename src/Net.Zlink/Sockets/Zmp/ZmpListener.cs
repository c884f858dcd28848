using System.Net.Sockets;
using Net.Zlink.Monitoring;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Transports;

namespace Net.Zlink.Sockets.Zmp;

/// <summary>One bound endpoint of a ZMP socket: turns accepted sockets into sessions, after the transport's own handshake where it has
/// one.</summary>
internal sealed class ZmpListener(SocketCore socket, ITransportListener listener, string text, ZmpSettings settings) : IAcceptSink
{
    private readonly CancellationTokenSource _closing = new();
    private volatile bool _isClosed;

    /// <summary>The endpoint as it was given to Bind.</summary>
    public string Text => text;

    /// <summary>The endpoint with what the system filled in.</summary>
    public string Endpoint => listener.Endpoint;

    public ITransportListener Listener => listener;

    /// <summary>Closed by this side: no connection of it may stay.</summary>
    public bool IsClosed => _isClosed;

    /// <summary>How long what was accepted for its connections may take to leave once it is closed; before that nobody asks. Null: as it
    /// was when it was bound.</summary>
    public TimeSpan? Linger { get; set; }

    /// <summary>Tells of it: before anybody can find it to close it, which is told, too.</summary>
    public void Announce()
    {
        socket.Host.OwnEndpoints.Enter(Endpoint);
        socket.Monitors.Publish(SocketEventTypes.Listening, listener.Handle, Endpoint, "");
    }

    public void Start() => listener.Start(this, socket.Host.Time);

    /// <summary>Stops to accept, and ends the handshakes of the transport that are under way.</summary>
    /// <param name="keepsPeers">The connections that there are stay; else the caller ends them.</param>
    public void Close(bool keepsPeers = false)
    {
        _isClosed = !keepsPeers;
        Interlocked.MemoryBarrier(); // Before the caller looks for this listener's connections.
        socket.Host.OwnEndpoints.Leave(Endpoint); // While the address is this one's still: who listens there next says so behind it.
        listener.Close();
        _closing.Cancel(); // Nobody will serve those that are in their handshake.
        socket.Monitors.Publish(SocketEventTypes.Closed, listener.Handle, Endpoint, "");
    }

    public void OnAccepted(Socket accepted)
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
                Endpoints.Format(TransportHandshake.AddressOf(accepted, remote: true), listener.Scheme, Endpoint), detail: refusal);
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
            Begin(new SocketWire(accepted, listener.Scheme));
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

    private async Task UpgradeAsync(WireUpgrade upgrade, Socket accepted)
    {
        bool begun = false;
        try
        {
            UpgradeResult result = await TransportHandshake.AcceptAsync(
                upgrade, accepted, Endpoint, listener.Scheme, socket.Host, socket.Monitors, _closing.Token).ConfigureAwait(false);
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
                // Also where something above threw.
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
            socket.Events.Publish(SocketEventTypes.Accepted, wire.Socket.Handle, session, detail: null);
        }

        socket.Endpoints.Track(session);
        session.Start();
    }
}
