using System.Runtime.CompilerServices;
using System.Threading.Channels;

namespace Net.Zlink.Services;

/// <summary>One service that a receiver offers at one endpoint. It is renewed at every registry that the receiver knows, also after a
/// lost connection, a restart of the registry, and a pause of this process.</summary>
/// <remarks>Safe for any number of threads. Dispose it to leave the registries.</remarks>
public sealed class ServiceRegistration : IAsyncDisposable, IDisposable
{
    private readonly RegistrationSet _owner;
    private readonly Lock _gate = new();
    private readonly Watchers<bool> _watchers = new(1, BoundedChannelFullMode.DropWrite);
    private readonly Dictionary<RegistryLinkLoop, RegistryStatus> _statuses = [];
    private uint _weight;
    private bool _hasEnded;

    internal ServiceRegistration(RegistrationSet owner, ServiceText service, string endpoint, uint weight)
    {
        _owner = owner;
        ServiceText = service;
        Endpoint = endpoint;
        _weight = weight;
    }

    /// <summary>The name of the service.</summary>
    public string Service => ServiceText.ToString();

    /// <summary>The endpoint that gateways connect to.</summary>
    public string Endpoint { get; }

    /// <summary>The weight that the registries list, 1 or more.</summary>
    public uint Weight => Volatile.Read(ref _weight);

    /// <summary>Its state over all registries.</summary>
    public RegistrationState State
    {
        get
        {
            lock (_gate)
            {
                RegistrationState[] states = [.. _statuses.Values.Select(static status => status.State)];
                return _hasEnded ? RegistrationState.Ended
                    : states.Contains(RegistrationState.Registered) ? RegistrationState.Registered
                    : states.Length == 0 || states.Contains(RegistrationState.Pending) ? RegistrationState.Pending
                    : states.Contains(RegistrationState.Unconfirmed) ? RegistrationState.Unconfirmed
                    : states.Contains(RegistrationState.Refused) ? RegistrationState.Refused
                    : RegistrationState.Unreachable;
            }
        }
    }

    internal ServiceText ServiceText { get; }

    /// <summary>The status at each registry: a snapshot.</summary>
    /// <returns>One status per registry, by their endpoints.</returns>
    public IReadOnlyList<RegistryStatus> GetRegistries()
    {
        lock (_gate)
        {
            return [.. _statuses.Values.OrderBy(static status => status.RegistryEndpoint, StringComparer.Ordinal)];
        }
    }

    /// <summary>Changes the weight at every registry. A registry that is not connected is notified when it is.</summary>
    /// <param name="weight">The weight; 0 is taken for 1, as in the native core.</param>
    /// <param name="cancellationToken">Ends the wait; the weight stays.</param>
    /// <returns>Complete when each connected registry has accepted it, at least one.</returns>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ServiceException">RegistrationRefused: each connected registry refused it.</exception>
    /// <exception cref="ObjectDisposedException">The registration was disposed.</exception>
    public async Task UpdateWeightAsync(uint weight, CancellationToken cancellationToken = default)
    {
        uint wanted = Math.Max(1, weight);
        ObjectDisposedException.ThrowIf(State == RegistrationState.Ended, this);
        Volatile.Write(ref _weight, wanted);
        await _owner.UpdateWeightAsync(this).WaitAsync(cancellationToken).ConfigureAwait(false);
        await WaitAsync(status => status.State == RegistrationState.Registered && status.Weight != wanted, cancellationToken)
            .ConfigureAwait(false);
    }

    /// <summary>Follows the state. Begins with the present one; a slow reader misses states between, never the last one.</summary>
    /// <param name="cancellationToken">Ends it.</param>
    /// <returns>States, each different from the one before. Ends after <see cref="RegistrationState.Ended"/>.</returns>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public async IAsyncEnumerable<RegistrationState> WatchAsync([EnumeratorCancellation] CancellationToken cancellationToken = default)
    {
        RegistrationState? seen = null;
        await foreach (bool _ in _watchers.WatchAsync(cancellationToken, first: [true]).ConfigureAwait(false))
        {
            RegistrationState state = State;
            if (state != seen)
            {
                seen = state;
                yield return state;
            }

            if (state == RegistrationState.Ended)
            {
                yield break;
            }
        }
    }

    /// <summary>Unregisters at every registry. The receiver still serves requests that gateways have sent already.</summary>
    /// <returns>Complete when the connected registries were sent it; a registry that is not connected drops the service when the lease is
    /// over.</returns>
    public ValueTask DisposeAsync() => new(_owner.RemoveAsync(this));

    /// <summary>As <see cref="DisposeAsync"/>, and returns at once.</summary>
    public void Dispose() => _ = _owner.RemoveAsync(this);

    /// <summary>Waits for the first registry that accepts.</summary>
    /// <exception cref="ServiceException">Each of them refused.</exception>
    internal Task WaitUntilRegisteredAsync(CancellationToken cancellationToken) => WaitAsync(static _ => false, cancellationToken);

    internal void SetStatus(RegistryLinkLoop link, RegistryStatus status)
    {
        lock (_gate)
        {
            if (_hasEnded || (_statuses.TryGetValue(link, out RegistryStatus? before) && before == status))
            {
                return;
            }

            _statuses[link] = status;
        }

        _watchers.Publish(true);
    }

    internal void RemoveStatus(RegistryLinkLoop link)
    {
        lock (_gate)
        {
            _statuses.Remove(link);
        }

        _watchers.Publish(true);
    }

    /// <returns>False: it has ended before.</returns>
    internal bool TryEnd()
    {
        lock (_gate)
        {
            if (_hasEnded)
            {
                return false;
            }

            _hasEnded = true;
        }

        _watchers.Publish(true);
        return true;
    }

    /// <summary>Waits until one registry lists the service and none is behind.</summary>
    private async Task WaitAsync(Func<RegistryStatus, bool> isBehind, CancellationToken cancellationToken)
    {
        await foreach (bool _ in _watchers.WatchAsync(cancellationToken, first: [true]).ConfigureAwait(false))
        {
            RegistrationState state = State;
            IReadOnlyList<RegistryStatus> statuses = GetRegistries();
            ObjectDisposedException.ThrowIf(state == RegistrationState.Ended, this);
            if (state == RegistrationState.Registered && !statuses.Any(isBehind))
            {
                return;
            }

            if (state == RegistrationState.Refused)
            {
                RegistryStatus refused = statuses.First(static status => status.State == RegistrationState.Refused);
                throw new ServiceException(ServiceError.RegistrationRefused,
                    $"{new RedactedEndpoint(refused.RegistryEndpoint)} refused {Service} at {new RedactedEndpoint(Endpoint)}: "
                    + $"{refused.Detail}",
                    refused.StatusCode ?? 0);
            }
        }
    }
}

/// <summary>The state of a registration, at one registry or as a whole.</summary>
public enum RegistrationState
{
    /// <summary>A registry is connected and has not answered yet, or no connection was tried yet.</summary>
    Pending,

    /// <summary>The registry lists the service. Of a whole registration: at least one registry does.</summary>
    Registered,

    /// <summary>The registry accepted it, and a <see cref="RegistryDirectory"/> of the same context has not seen it in the lists for two
    /// heartbeats. Only of native registries: others answer each second heartbeat. Of a whole registration: no registry is
    /// better.</summary>
    Unconfirmed,

    /// <summary>The registry refused it. It is asked again after 5 s, then after pauses that double up to a minute, and on the next
    /// connection at once. Of a whole registration: each connected registry refused it.</summary>
    Refused,

    /// <summary>There is no connection to the registry. Of a whole registration: to none of them.</summary>
    Unreachable,

    /// <summary>The registration was disposed, or its receiver was.</summary>
    Ended,
}

/// <summary>What one registry says about one registration: a snapshot.</summary>
public sealed class RegistryStatus
{
    internal RegistryStatus()
    {
    }

    /// <summary>The registry's router endpoint, as it was given to <c>ConnectRegistry</c>.</summary>
    public string RegistryEndpoint { get; internal init; } = "";

    /// <summary>How far the registration is at this registry.</summary>
    public RegistrationState State { get; internal init; }

    /// <summary>The status byte of the last answer: 0 accepted, 1 unknown entry, 2 refused, 3 the registry cannot decide now, 255 malformed
    /// or of another owner. Null before the first answer.</summary>
    public byte? StatusCode { get; internal init; }

    /// <summary>The text of the last answer, or why there is no connection; empty where there is nothing to say.</summary>
    public string Detail { get; internal init; } = "";

    /// <summary>When the registry last accepted the registration, a weight of it or an answered heartbeat; null before.</summary>
    public DateTimeOffset? AcceptedAt { get; internal init; }

    /// <summary>When the last registration or heartbeat was sent; null before.</summary>
    public DateTimeOffset? LastHeartbeatAt { get; internal init; }

    /// <summary>The weight that the registry last accepted; null before.</summary>
    public uint? Weight { get; internal init; }

    /// <summary>When a refused registration is sent again; null: it is not refused, or it is on its way.</summary>
    public DateTimeOffset? RetryAt { get; internal init; }
}
