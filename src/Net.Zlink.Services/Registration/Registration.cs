using System.Collections.Immutable;
using System.Runtime.CompilerServices;
using System.Threading.Channels;

namespace Net.Zlink.Services;

/// <summary>One service that a receiver offers at one endpoint. It keeps itself true at every registry that the receiver knows: after a
/// lost connection, a restart of the registry, and a pause of this process.</summary>
/// <remarks>Safe for any number of threads. Dispose it to leave the registries.</remarks>
public sealed class Registration : IAsyncDisposable
{
    private readonly RegistrationSet _owner;
    private readonly Lock _gate = new();
    private readonly Watchers<bool> _watchers = new(1, BoundedChannelFullMode.DropWrite);
    private ImmutableDictionary<RegistryLinkLoop, RegistryStatus> _statuses = ImmutableDictionary<RegistryLinkLoop, RegistryStatus>.Empty;
    private uint _weight;
    private bool _hasEnded;

    internal Registration(RegistrationSet owner, ServiceText service, string endpoint, uint weight)
    {
        _owner = owner;
        ServiceText = service;
        Endpoint = endpoint;
        _weight = weight;
    }

    /// <summary>The name of the service.</summary>
    public string Service => ServiceText.ToString();

    /// <summary>The endpoint that gateways are told.</summary>
    public string Endpoint { get; }

    /// <summary>The weight that the registries are told, 1 or more.</summary>
    public uint Weight => Volatile.Read(ref _weight);

    /// <summary>How far it is, over all registries.</summary>
    public RegistrationState State
    {
        get
        {
            lock (_gate)
            {
                return _hasEnded ? RegistrationState.Ended
                    : _statuses.IsEmpty || Any(RegistrationState.Registered) || Any(RegistrationState.Pending)
                        ? Any(RegistrationState.Registered) ? RegistrationState.Registered : RegistrationState.Pending
                    : Any(RegistrationState.Refused) ? RegistrationState.Refused
                    : RegistrationState.Unreachable;
            }

            bool Any(RegistrationState state) => _statuses.Values.Any(status => status.State == state);
        }
    }

    internal ServiceText ServiceText { get; }

    /// <summary>What each registry says: a snapshot.</summary>
    /// <returns>One status per registry, by their endpoints.</returns>
    public IReadOnlyList<RegistryStatus> GetRegistries()
    {
        lock (_gate)
        {
            return [.. _statuses.Values.OrderBy(static status => status.RegistryEndpoint, StringComparer.Ordinal)];
        }
    }

    /// <summary>Changes the weight at every registry. A registry that is not connected is told when it is.</summary>
    /// <param name="weight">The weight; 0 is taken for 1, as natively.</param>
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
        _owner.UpdateWeight(this);
        await WaitAsync(status => status.State == RegistrationState.Registered && status.Weight != wanted, cancellationToken)
            .ConfigureAwait(false);
    }

    /// <summary>Follows the state. Begins with the present one; a slow reader misses states between, never the last one.</summary>
    /// <param name="cancellationToken">Ends it.</param>
    /// <returns>States, each another than the one before. Ends behind <see cref="RegistrationState.Ended"/>.</returns>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public async IAsyncEnumerable<RegistrationState> WatchAsync([EnumeratorCancellation] CancellationToken cancellationToken = default)
    {
        Channel<bool> changes = _watchers.Add();
        try
        {
            RegistrationState? seen = null;
            while (true)
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

                await changes.Reader.ReadAsync(cancellationToken).ConfigureAwait(false);
            }
        }
        finally
        {
            _watchers.Remove(changes);
        }
    }

    /// <summary>Leaves every registry. Requests that gateways have sent already are served as long as the receiver is.</summary>
    /// <returns>Complete when the connected registries were sent it; a registry that is not connected drops the service when the lease is
    /// over.</returns>
    public ValueTask DisposeAsync() => new(_owner.RemoveAsync(this));

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

            _statuses = _statuses.SetItem(link, status);
        }

        _watchers.Publish(true);
    }

    internal void RemoveStatus(RegistryLinkLoop link)
    {
        lock (_gate)
        {
            _statuses = _statuses.Remove(link);
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
        Channel<bool> changes = _watchers.Add();
        try
        {
            while (true)
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
                        $"{refused.RegistryEndpoint} refused {Service} at {Endpoint}: {refused.Detail}", refused.StatusCode ?? 0);
                }

                await changes.Reader.ReadAsync(cancellationToken).ConfigureAwait(false);
            }
        }
        finally
        {
            _watchers.Remove(changes);
        }
    }
}
