using System.Threading.Channels;
using Microsoft.Extensions.Logging;

namespace Net.Zlink.Services;

/// <summary>What a list says at one moment.</summary>
/// <param name="Sequence">Its number.</param>
/// <param name="All">All entries.</param>
/// <param name="Own">Own entries, where they are sent apart; else null.</param>
internal readonly record struct RegistryLists(ulong Sequence, ListedService[] All, ListedService[]? Own);

/// <summary>
/// The state of a registry behind its lock, with the clock, the events and the counters. Safe for any number of threads; it calls nobody
/// under the lock.
/// </summary>
/// <param name="state">The state; nobody else uses it.</param>
/// <param name="sendsOwnEntries">Whether a registry with peers sends its own entries apart.</param>
/// <param name="clock">The clock of the context.</param>
/// <param name="logger">Where events are told.</param>
internal sealed class RegistryCore(RegistryState state, bool sendsOwnEntries, TimeProvider clock, ILogger logger)
{
    // Of one reader; one that is slower misses the oldest.
    private const int MaxQueuedEvents = 1024;

    private readonly Lock _gate = new();
    private readonly long _started = clock.GetTimestamp();
    private readonly Watchers<RegistryEvent> _watchers = new(MaxQueuedEvents, BoundedChannelFullMode.DropOldest);
    private long _requests;
    private long _refused;
    private long _malformed;
    private long _peerLists;
    private bool _hasPeers;

    public uint Id => state.Id;

    /// <summary>The time since the start.</summary>
    public TimeSpan Now => clock.GetElapsedTime(_started);

    /// <summary>Whether the registry has peers, by configuration.</summary>
    public bool HasPeers
    {
        get => Volatile.Read(ref _hasPeers);
        set => Volatile.Write(ref _hasPeers, value);
    }

    /// <summary>Whether each list goes out twice: own entries, then all.</summary>
    public bool SendsPairs => sendsOwnEntries && HasPeers;

    public ulong Sequence
    {
        get
        {
            lock (_gate)
            {
                return state.Sequence;
            }
        }
    }

    public IAsyncEnumerable<RegistryEvent> WatchAsync(CancellationToken cancellationToken) => _watchers.WatchAsync(cancellationToken);

    public void End() => _watchers.Complete();

    /// <summary>The present lists.</summary>
    /// <param name="renumber">Whether they get a new number, although nothing changed.</param>
    public RegistryLists GetLists(bool renumber = false)
    {
        lock (_gate)
        {
            if (renumber)
            {
                state.RenumberList();
            }

            return new RegistryLists(state.Sequence, state.All, SendsPairs ? state.Own : null);
        }
    }

    /// <summary>Deals with a request.</summary>
    /// <returns>The answer; null where there is none.</returns>
    public RegistryAck? Handle(RegistryRequest request, RoutingId sender, string? refusal) => Change(now =>
    {
        RegistryAck? ack = state.Handle(now, request, sender, refusal);
        _requests++;
        _malformed += request.Id == 0 || request.Fault is not null ? 1 : 0;
        _refused += ack is { Status: not AckStatus.Done } ? 1 : 0;
        return ack;
    });

    public bool Remove(EntryKey key) => Change(now => state.Remove(now, key));

    /// <summary>Looks at the header of a peer's list; null: it is none.</summary>
    public bool WantsList(PeerView view, ServiceListHeader? header, bool isOwnSocket) => Change(now =>
    {
        bool isWanted = header is { } list && state.WantsList(now, view, list, isOwnSocket);
        _malformed += header is null ? 1 : 0;
        _peerLists += isWanted ? 1 : 0;
        return isWanted;
    });

    public void TakeList(PeerView view, ServiceListHeader header, SortedDictionary<ServiceKey, ListedService> services) => Change(now =>
    {
        state.TakeList(now, view, header, services);
        return true;
    });

    public void RemoveView(PeerView view, string why) => Change(now =>
    {
        state.RemoveView(now, view, why);
        return true;
    });

    /// <summary>Removes what is out of date.</summary>
    public void Tick(IReadOnlySet<PeerView> connected) => Change(now =>
    {
        foreach (PeerView view in state.Views.Where(view => !connected.Contains(view)))
        {
            RegistryState.ConnectionLost(now, view);
        }

        state.Tick(now);
        return true;
    });

    /// <summary>A peer's view, for people.</summary>
    /// <param name="view">What the connection has brought; null before its first message.</param>
    /// <param name="endpoint">What was connected.</param>
    /// <param name="isConnected">Whether the connection is there.</param>
    public RegistryView Describe(PeerView? view, string endpoint, bool isConnected)
    {
        lock (_gate)
        {
            if (view?.Sequence is not { } sequence)
            {
                return new RegistryView { Endpoint = endpoint, IsConnected = isConnected };
            }

            return new RegistryView
            {
                Endpoint = endpoint,
                IsConnected = isConnected,
                RegistryId = view.RegistryId,
                Sequence = sequence,
                LastListAt = state.At(view.LastHeard),
                Services = view.Services.Count,
                Instances = view.Services.Values.Sum(static service => service.Instances.Length),
            };
        }
    }

    /// <summary>The snapshot; what only sockets know is given.</summary>
    public RegistrySnapshot GetSnapshot(IReadOnlyList<RegistryView> peers, int subscribers, long listsSent)
    {
        lock (_gate)
        {
            return new RegistrySnapshot
            {
                Id = state.Id,
                Sequence = state.Sequence,
                Entries = state.GetEntries(),
                OwnEntries = state.OwnCount,
                Peers = peers,
                Subscribers = subscribers,
                Requests = _requests,
                RefusedRequests = _refused,
                MalformedMessages = _malformed,
                ExpiredEntries = state.Expired,
                ListsSent = listsSent,
                PeerLists = _peerLists,
            };
        }
    }

    /// <summary>Changes the state under the lock. Readers get events in order, and none of their code runs there; the log is written
    /// behind it.</summary>
    private T Change<T>(Func<TimeSpan, T> change)
    {
        T result;
        RegistryEvent[] events;
        lock (_gate)
        {
            result = change(Now);
            events = state.DequeueEvents();
            Array.ForEach(events, _watchers.Publish);
        }

        Log(events);
        return result;
    }

    private void Log(RegistryEvent[] events)
    {
        foreach (RegistryEvent one in events)
        {
            (string service, string endpoint) = (one.Instance?.Service ?? "", one.Instance?.Endpoint ?? "");
            switch (one.Type)
            {
                case RegistryEventType.Refused:
                    ServicesLog.EntryRefused(logger, Id, service, endpoint, one.Text);
                    break;
                case RegistryEventType.Expired:
                    ServicesLog.EntryExpired(logger, Id, service, endpoint, one.Text);
                    break;
                case RegistryEventType.PeerUp:
                    ServicesLog.PeerUp(logger, Id, one.RegistryId, one.Text);
                    break;
                case RegistryEventType.PeerDown:
                    ServicesLog.PeerDown(logger, Id, one.RegistryId, one.Text);
                    break;
                case RegistryEventType.IdConflict:
                    ServicesLog.RegistryIdConflict(logger, Id, one.Text);
                    break;
                default:
                    ServicesLog.EntryChanged(logger, Id, one.Type, service, endpoint, one.Instance?.Weight ?? 0, one.RegistryId);
                    break;
            }
        }
    }
}
