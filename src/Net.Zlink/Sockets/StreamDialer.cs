using System.Net.Sockets;
using Net.Zlink.Flow;
using Net.Zlink.Monitoring;
using Net.Zlink.Sockets.Endpoints;
using Net.Zlink.Transports;

namespace Net.Zlink.Sockets;

/// <summary>Each connection of a dialer is a new peer with a new id.</summary>
internal sealed class StreamDialer(StreamHub hub, WireEndpoint target, StreamSettings settings, IPeerFactory factory,
    ReconnectPolicy? reconnect)
{
    private readonly CancellationTokenSource _closing = new();
    // Shared by all attempts, because it keeps the certificates of the last complete files.
    private readonly WireUpgrade? _upgrade = target.DialUpgrade(settings.Transport);

    public bool IsClosed => _closing.IsCancellationRequested;

    public string Text => target.Text;

    public string? WhyNotConnected { get; private set => field = value is null ? null : $"not connected: {value}"; }

    public void Close() => _closing.Cancel();

    /// <summary>The hub keeps this dialer while it has a connection or reconnects.</summary>
    public async ValueTask<(uint Id, DialResult Failure)> BeginAsync(CancellationToken cancellation)
    {
        if (!hub.Endpoints.TryAdd(this))
        {
            return default;
        }

        bool isUp = false;
        try
        {
            (uint Id, DialResult Failure) result = await DialAsync(cancellation).ConfigureAwait(false);
            isUp = result.Id != 0;
            return result;
        }
        finally
        {
            if (!isUp)
            {
                hub.Endpoints.Forget(this);
            }
        }
    }

    /// <summary>
    /// Runs in the default execution context: the connection outlives the call and keeps the context of its last operation.
    /// </summary>
    private ValueTask<(uint Id, DialResult Failure)> DialAsync(CancellationToken cancellation) =>
        DefaultContext.Run(() => DialHereAsync(cancellation));

    private async ValueTask<(uint Id, DialResult Failure)> DialHereAsync(CancellationToken cancellation)
    {
        using var either = CancellationTokenSource.CreateLinkedTokenSource(cancellation, _closing.Token);
        DialResult result = await target.DialAsync(
            settings.Transport, hub.Host.Time, () => EndpointEvents.Connecting(hub.Monitors, target.Redacted), either.Token)
            .ConfigureAwait(false);
        if (result.Wire is null)
        {
            hub.Monitors.Publish(SocketEventTypes.Closed, 0, "", target.Redacted, detail: result.Sentence);
            return (0, result);
        }

        Interlocked.Increment(ref hub.Counters.Dialled);
        if (!hub.Parts.TryEnter())
        {
            result.Wire.Dispose();
            return (0, new DialResult(null, SocketError.OperationAborted, UpgradeResult.Cancelled.Sentence));
        }

        try
        {
            if (_upgrade is null)
            {
                return Create(result.Wire);
            }

            UpgradeResult upgraded = await TransportHandshake.ConnectAsync(
                _upgrade, result.Wire, target, hub.Host, hub.Monitors, either.Token).ConfigureAwait(false);
            if (upgraded.Wire is not null)
            {
                return Create(upgraded.Wire);
            }

            hub.Counters.FailedHandshakes.Count(upgraded.Cause);
            return (0, new DialResult(null, upgraded.Error, upgraded.Sentence));
        }
        finally
        {
            hub.Parts.Leave();
        }
    }

    private (uint Id, DialResult Failure) Create(Wire wire)
    {
        WhyNotConnected = null;
        uint id = factory.Create(hub, wire, settings, target.Redacted, origin: this);
        return id == 0 ? (0, new DialResult(null, SocketError.ConnectionReset, "the connection was reset at once")) : (id, default);
    }

    public void OnLost(DisconnectReason reason)
    {
        bool ours = reason is DisconnectReason.Local or DisconnectReason.ContextTerminated or DisconnectReason.ProtocolError
            or DisconnectReason.HandlerFailed;
        if (reconnect is not null && !ours && !IsClosed)
        {
            _ = ReconnectAsync(reconnect, reason);
        }
        else
        {
            hub.Endpoints.Forget(this);
        }
    }

    private async Task ReconnectAsync(ReconnectPolicy policy, DisconnectReason reason)
    {
        try
        {
            string problem = $"the connection ended: {reason.Words()}";
            string? logged = null;
            for (int attempt = 0; !IsClosed; attempt++)
            {
                WhyNotConnected = problem;
                await EndpointEvents.PauseAsync(hub.Monitors, hub.Host, target.Redacted, problem, policy.PauseBefore(attempt),
                    _closing.Token).ConfigureAwait(false);
                (uint id, DialResult failure) = await DialAsync(CancellationToken.None).ConfigureAwait(false);
                if (id != 0)
                {
                    return;
                }

                problem = failure.Sentence;
                logged = EndpointEvents.Failed(hub.Host, target.Redacted, problem, logged);
            }
        }
        catch (OperationCanceledException)
        {
            // The socket or the endpoint was closed meanwhile.
        }
#pragma warning disable CA1031 // As in ZmpDialer: nothing awaits this task.
        catch (Exception e)
#pragma warning restore CA1031
        {
            EndpointEvents.DialerFailed(hub.Monitors, hub.Host, target.Redacted, e);
        }

        hub.Endpoints.Forget(this);
    }
}
