using System.Net.Sockets;
using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Transports;

namespace Net.Zlink.Sockets;

internal sealed class StreamListener(StreamHub hub, ITransportListener listener, StreamSettings settings,
    IPeerFactory factory) : IAcceptSink
{
    private readonly CancellationTokenSource _closing = new();
    private volatile bool _closed;

    public bool IsClosed => _closed;

    /// <summary>The endpoint that Bind returned.</summary>
    public string Bound => listener.Endpoint;

    public RedactedEndpoint Endpoint { get; } = listener.Endpoint;

    public StreamSettings Settings => settings;

    /// <inheritdoc cref="WireUpgrade.Staleness"/>
    public string? Staleness => listener.Upgrade?.Staleness;

    /// <summary>Publishes the event before another thread can find and close the listener.</summary>
    public void Announce() => hub.Monitors.Publish(SocketEventTypes.Listening, listener.Handle, Endpoint, "");

    public void Start() => listener.Start(this, hub.Host.Time);

    public void Close(bool keepsPeers = false)
    {
        _closed = !keepsPeers;
        Interlocked.MemoryBarrier(); // Before the caller searches for this listener's connections: see StreamHub.Announce.
        listener.Close();
        _closing.Cancel(); // Nothing would serve connections that are in their handshake.
        hub.Monitors.Publish(SocketEventTypes.Closed, listener.Handle, Endpoint, "");
    }

    public void OnAccepted(Wire wire)
    {
        Interlocked.Increment(ref hub.Counters.Accepted);
        string? refusal = hub.AcquireConnection(settings);
        if (refusal is not null)
        {
            Interlocked.Increment(ref hub.Counters.Refused);
            hub.Monitors.Publish(SocketEventTypes.ConnectionRefused, 0, Endpoint, hub.Monitors.IsEmpty ? ""
                : wire.RemoteText(Endpoint), detail: refusal);
            hub.Host.Warnings.ConnectionRefused(Endpoint, refusal);
            wire.Dispose();
            return;
        }

        if (listener.Upgrade is null)
        {
            Create(wire);
        }
        else if (hub.Parts.TryEnter())
        {
            _ = UpgradeAsync(listener.Upgrade, wire);
        }
        else
        {
            hub.Links.ReleaseConnection();
            wire.Dispose();
        }
    }

    public void OnAcceptFailed(SocketError error, TimeSpan backOff)
    {
        Interlocked.Increment(ref hub.Counters.AcceptErrors);
        EndpointEvents.AcceptFailed(hub.Monitors, hub.Host, Endpoint, error, backOff);
    }

    public void OnListenerClosed(SocketError error)
    {
        hub.Endpoints.Forget(this);
        EndpointEvents.ListenerFailed(hub.Monitors, hub.Host, listener.Handle, Endpoint, error);
    }

    private void Create(Wire wire)
    {
        if (factory.Create(hub, wire, settings, Endpoint, origin: this) == 0)
        {
            hub.Links.ReleaseConnection();
        }
    }

    private async Task UpgradeAsync(WireUpgrade upgrade, Wire accepted)
    {
        UpgradeResult result = default;
        try
        {
            result = await TransportHandshake.AcceptAsync(
                upgrade, accepted, Endpoint, hub.Host, hub.Monitors, _closing.Token).ConfigureAwait(false);
            if (result.Wire is not null)
            {
                Create(result.Wire);
            }
        }
        finally
        {
            if (result.Wire is null)
            {
                hub.Links.ReleaseConnection();
                hub.Counters.FailedHandshakes.Count(result.Cause);
            }

            hub.Parts.Leave();
        }
    }
}

internal interface IPeerFactory
{
    /// <summary>Returns the peer's id, or 0 if the hub is closed (the wire is disposed).</summary>
    uint Create(StreamHub hub, Wire wire, StreamSettings settings, RedactedEndpoint endpoint, object origin);
}

internal sealed record StreamSettings(ConnectionSettings Connection, TransportSettings Transport, QueueLimits Inbound, int MaxConnections);
