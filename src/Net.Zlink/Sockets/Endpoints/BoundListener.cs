using System.Net.Sockets;
using Net.Zlink.Monitoring;
using Net.Zlink.Transports;

namespace Net.Zlink.Sockets.Endpoints;

/// <summary>What becomes of the connections that a listener accepts.</summary>
internal interface IAcceptor
{
    /// <summary>Takes a place for a connection, or says why there is none.</summary>
    string? AcquireConnection();

    void ReleaseConnection();

    /// <summary>Takes over the wire, its place, and the listener's entry into the socket.</summary>
    void Begin(Wire wire, BoundListener listener);

    /// <summary>Those of a listener that was closed. What they have received stays readable, as in the native core.</summary>
    void CloseConnections(BoundListener listener);
}

internal sealed class BoundListener(EndpointTable table, ITransportListener transport, string text, IAcceptor acceptor)
    : IAcceptSink, IConnectionOrigin
{
    private readonly CancellationTokenSource _closing = new();
    private volatile bool _isClosed;
    private bool _isAnnounced; // Not if its one connection is the application's.

    public string Text => text;

    /// <summary>The endpoint that Bind returned.</summary>
    public string Bound { get; } = transport.Endpoint;

    public RedactedEndpoint Endpoint { get; } = transport.Endpoint;

    public ITransportListener Transport => transport;

    /// <summary>Its connections are to end as well.</summary>
    public bool IsClosed => _isClosed || table.Parts.IsClosed;

    public TimeSpan? Linger { get; private set; }

    /// <summary>Publishes the event before another thread can find and close the listener.</summary>
    public void Announce()
    {
        _isAnnounced = true;
        table.Host.OwnEndpoints.Enter(Bound);
        table.Monitors.Publish(SocketEventTypes.Listening, transport.Handle, Endpoint, "");
    }

    public void Start() => transport.Start(this, table.Host.Time);

    public void Close(bool keepsPeers = false)
    {
        _isClosed = !keepsPeers;
        Interlocked.MemoryBarrier(); // Before the caller searches for this listener's connections.
        if (!_isAnnounced)
        {
            return;
        }

        table.Host.OwnEndpoints.Leave(Bound); // Before the address is free: the next listener there registers it after this.
        transport.Dispose();
        _closing.Cancel(); // Nothing would serve connections that are in their handshake.
        table.Monitors.Publish(SocketEventTypes.Closed, transport.Handle, Endpoint, "");
    }

    public void Unbind(TimeSpan? linger, bool keepsPeers)
    {
        Linger = linger;
        Close(keepsPeers);
        if (!keepsPeers)
        {
            acceptor.CloseConnections(this);
        }
    }

    public void OnAccepted(Wire wire)
    {
        Interlocked.Increment(ref table.Counters.Accepted);
        string? refusal = acceptor.AcquireConnection();
        if (refusal is null && !table.Parts.TryEnter())
        {
            acceptor.ReleaseConnection();
            refusal = "the socket is closed";
        }

        if (refusal is not null)
        {
            Refuse(wire, refusal);
        }
        else if (transport.Upgrade is { } upgrade)
        {
            _ = UpgradeAsync(upgrade, wire);
        }
        else
        {
            acceptor.Begin(wire, this);
        }
    }

    public void OnConnectionEnded(DisconnectReason reason) => transport.OnConnectionEnded(reason);

    public void OnAcceptFailed(SocketError error, TimeSpan backOff)
    {
        Interlocked.Increment(ref table.Counters.AcceptErrors);
        table.Monitors.Publish(SocketEventTypes.AcceptFailed, EndpointError.ErrnoOf(error), Endpoint, "",
            detail: $"{error}; accepting resumes in {backOff.TotalMilliseconds:0} ms");
        table.Host.Warnings.AcceptFailed(Endpoint, error, backOff);
    }

    public void OnListenerClosed(SocketError error)
    {
        table.Forget(this);
        table.Monitors.Publish(SocketEventTypes.Closed, transport.Handle, Endpoint, "", detail: $"the listening socket failed: {error}");
        Log.ListenerClosed(table.Host.Logger, Endpoint, error);
    }

    private void Refuse(Wire wire, string why)
    {
        Interlocked.Increment(ref table.Counters.Refused);
        table.Monitors.Publish(SocketEventTypes.ConnectionRefused, 0, Endpoint, table.Monitors.IsEmpty ? "" : wire.RemoteText(Endpoint),
            detail: why);
        table.Host.Warnings.ConnectionRefused(Endpoint, why);
        wire.Dispose();
        OnConnectionEnded(DisconnectReason.Refused);
    }

    private async Task UpgradeAsync(WireUpgrade upgrade, Wire accepted)
    {
        UpgradeResult result = await TransportHandshake.AcceptAsync(
            upgrade, accepted, Endpoint, table.Host, table.Monitors, _closing.Token).ConfigureAwait(false);
        if (result.Wire is not null)
        {
            acceptor.Begin(result.Wire, this);
            return;
        }

        table.Counters.FailedHandshakes.Count(result.Cause);
        acceptor.ReleaseConnection();
        table.Parts.Leave();
    }
}
