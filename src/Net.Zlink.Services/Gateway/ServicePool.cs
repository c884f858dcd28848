using System.Buffers.Binary;
using System.Text;

namespace Net.Zlink.Services;

/// <summary>The receivers of one service: which are listed, which are ready, and which is next.</summary>
internal sealed class ServicePool(string service, string? metricName = null)
{
    private PoolSnapshot _ready = new([], [], isListed: false, isFirstAttempt: false);
    private readonly SortedDictionary<int, ReceiverLink> _usable = [];
    private ulong _counter;
    private int _connecting;
    private int _lists;
    private int _loadBalancing;
    private int _updates;

    public string Service { get; } = service;

    /// <summary>What metrics call the service.</summary>
    public string MetricName { get; } = metricName ?? service;

    /// <summary>Of its requests.</summary>
    public RequestCounters Counters { get; } = new();

    /// <summary>The name in UTF-8, as envelopes contain it.</summary>
    public byte[] ServiceBytes { get; } = Encoding.UTF8.GetBytes(service);

    /// <summary>The receivers that are ready now.</summary>
    public PoolSnapshot Ready => Volatile.Read(ref _ready);

    public LoadBalancing LoadBalancing
    {
        get => (LoadBalancing)Volatile.Read(ref _loadBalancing);
        set => Volatile.Write(ref _loadBalancing, (int)value);
    }

    /// <summary>The directory's last snapshot. Guarded by the lock of the <see cref="LinkTable"/>, as what follows.</summary>
    public ServiceSnapshot Listed { get; private set; } = new(service, []);

    /// <summary>The link of each instance that is listed.</summary>
    public ReceiverLink[] Links { get; private set; } = [];

    /// <summary>Its client was removed from the gateway.</summary>
    public bool IsRemoved { get; private set; }

    /// <summary>A receiver of it was ready since the gateway was made: from then on a request that finds none fails at once.</summary>
    public bool HasBeenReady { get; private set; }

    /// <summary>Whether one more receiver may be ejected: at most half of the connected receivers are.</summary>
    public bool CanSpareOne => 1 + _usable.Values.Count(static link => link.IsEjected) <= _usable.Count / 2;

    /// <summary>Copies the directory's state. One thread at a time; a change during the copy starts another, so the last state
    /// wins.</summary>
    public void Update(Action copy)
    {
        if (Interlocked.Increment(ref _updates) > 1)
        {
            return; // The thread that is already updating will run once more.
        }

        int seen;
        do
        {
            seen = Volatile.Read(ref _updates);
            try
            {
                copy();
            }
            catch
            {
                Volatile.Write(ref _updates, 0);
                throw;
            }
        }
        while (Interlocked.CompareExchange(ref _updates, 0, seen) != seen);
    }

    /// <summary>The index of the next receiver. With one receiver the counter does not advance, as in the native core.</summary>
    public int Next(PoolSnapshot ready) => ready.Count <= 1 ? 0 : ReceiverAt(ready, TakeTurns(1));

    /// <summary>Advances the counter, which all strategies share.</summary>
    /// <returns>The number of the first of these turns.</returns>
    public ulong TakeTurns(int count) => Interlocked.Add(ref _counter, (ulong)count) - (ulong)count;

    /// <summary>The place of the receiver whose turn has that number.</summary>
    public int ReceiverAt(PoolSnapshot ready, ulong turn)
    {
        switch (LoadBalancing)
        {
            case LoadBalancing.Weighted:
                return ReceiverChoice.Weighted(turn, ready.WeightsUpTo);
            case LoadBalancing.LeastOutstanding when ready.Count > 1:
                (int first, int second) = ReceiverChoice.Two(turn, ready.Count);
                return ReceiverChoice.HasNoMore(ready.Links[first].Outstanding, ready.WeightOf(first), ready.Links[second].Outstanding,
                    ready.WeightOf(second))
                    ? first
                    : second;
            default:
                return ReceiverChoice.RoundRobin(turn, ready.Count);
        }
    }

    /// <summary>There is another list: <see cref="Place"/> follows for each link in it.</summary>
    public void Begin(ServiceSnapshot listed, ReceiverLink[] links, bool isLast)
    {
        (Listed, Links, IsRemoved) = (listed, links, isLast);
        _usable.Clear();
        _connecting = 0;
        _lists++;
    }

    /// <summary>A link is in the present list at this place.</summary>
    public void Place(Listing listing, ReceiverLink link, int place)
    {
        if (Lists(listing))
        {
            return; // An endpoint that comes twice is one.
        }

        (listing.Index, listing.List, listing.IsUsable, listing.IsConnecting) = (place, _lists, false, false);
        OnChanged(listing, link);
    }

    /// <summary>It is of the present list.</summary>
    public bool Lists(Listing listing) => listing.List == _lists;

    /// <summary>A link may have become ready, or not be any more.</summary>
    /// <returns>The snapshot has to be made anew.</returns>
    public bool OnChanged(Listing listing, ReceiverLink link)
    {
        if (!Lists(listing))
        {
            return false;
        }

        bool isStale = listing.IsUsable != link.IsUsable;
        if (isStale)
        {
            listing.IsUsable = !listing.IsUsable;
            _ = listing.IsUsable ? _usable.TryAdd(listing.Index, link) : _usable.Remove(listing.Index);
        }

        bool isConnecting = link.State == LinkState.Connecting;
        if (listing.IsConnecting != isConnecting)
        {
            listing.IsConnecting = isConnecting;
            _connecting += isConnecting ? 1 : -1;
            isStale |= _connecting == (isConnecting ? 1 : 0);
        }

        return isStale;
    }

    /// <summary>Makes the snapshot anew, of those that are ready.</summary>
    public void Refresh()
    {
        int[] ready = [.. _usable.Keys];
        int ejected = Array.Exists(ready, index => Links[index].IsEjected) ? MoveEjectedToEnd(ready) : 0;
        var next = new PoolSnapshot(
            [.. ready.Select(index => Links[index])],
            [.. ready.Select(index => Listed.Instances[index])],
            Links.Length > 0,
            _connecting > 0,
            ejected);
        HasBeenReady |= next.Count > 0;
        Interlocked.Exchange(ref _ready, next).Replace();
    }

    /// <summary>Others may have been lost since: of those that are connected half are in rotation at least.</summary>
    /// <returns>How many are not.</returns>
    private int MoveEjectedToEnd(int[] ready)
    {
        int[] ejected = [.. ready.Where(index => Links[index].IsEjected).Take(ready.Length / 2)];
        int[] others = [.. ready.Except(ejected)];
        others.CopyTo(ready, 0);
        ejected.CopyTo(ready, others.Length);
        return ejected.Length;
    }
}

/// <summary>The receivers of one service that are ready, at one moment, in the order of the bytes of their endpoints. Immutable: a send
/// reads it without a lock.</summary>
internal sealed class PoolSnapshot
{
    private readonly Dictionary<RoutingId, int> _byId = [];
    private readonly TaskCompletionSource _replaced = new(TaskCreationOptions.RunContinuationsAsynchronously);

    /// <param name="links">The links that are ready.</param>
    /// <param name="instances">What the directory says of each.</param>
    /// <param name="isListed">The directory lists a receiver, ready or not.</param>
    /// <param name="isFirstAttempt">One that is listed makes its first attempt to connect.</param>
    /// <param name="ejected">So many at the end of the links are out of rotation: they are only reached by their routing ids.</param>
    public PoolSnapshot(ReceiverLink[] links, ServiceInstance[] instances, bool isListed, bool isFirstAttempt, int ejected = 0)
    {
        (Links, Instances, IsListed, IsFirstAttempt) = (links, instances, isListed, isFirstAttempt);
        Count = links.Length - ejected;
        WeightsUpTo = new ulong[Count];
        TrialIndex = Array.FindIndex(links, Count, static link => link.Health.Standing == LinkStanding.Probed);
        ulong sum = 0;
        for (int i = 0; i < links.Length; i++)
        {
            if (i < Count)
            {
                WeightsUpTo[i] = sum += WeightOf(i);
            }

            if (!instances[i].RoutingId.IsEmpty)
            {
                _byId.TryAdd(instances[i].RoutingId, i);
            }
        }
    }

    /// <summary>Those in rotation, and behind them those that are not.</summary>
    public ReceiverLink[] Links { get; }

    public ServiceInstance[] Instances { get; }

    public ulong[] WeightsUpTo { get; }

    public bool IsListed { get; }

    public bool IsFirstAttempt { get; }

    /// <summary>How many are in rotation.</summary>
    public int Count { get; }

    /// <summary>The place of one that is out of rotation and gets one request to show that it answers; -1: there is none.</summary>
    public int TrialIndex { get; }

    /// <summary>Completes when another snapshot has taken the place of this one.</summary>
    public Task Replaced => _replaced.Task;

    /// <summary>The place of the first receiver that is listed with this routing id; -1: none is ready.</summary>
    public int IndexOf(RoutingId routingId) => _byId.TryGetValue(routingId, out int index) ? index : -1;

    /// <summary>Completes <see cref="Replaced"/>; its waiters continue on the thread pool.</summary>
    public void Replace() => _replaced.TrySetResult();

    /// <summary>The weight of one receiver, 1 or more.</summary>
    public uint WeightOf(int index) => Math.Max(1, Instances[index].Weight);
}

/// <summary>One link in the list of one service.</summary>
internal sealed class Listing(ServicePool pool)
{
    public ServicePool Pool { get; } = pool;

    /// <summary>Its place in the list.</summary>
    public int Index { get; set; }

    /// <summary>Which of its pool's lists that was.</summary>
    public int List { get; set; }

    public bool IsUsable { get; set; }

    public bool IsConnecting { get; set; }
}

/// <summary>Where the connection to a receiver stands.</summary>
internal enum LinkState
{
    /// <summary>The first attempt to connect is under way, or has still to begin.</summary>
    Connecting,

    /// <summary>The handshake is complete.</summary>
    Ready,

    /// <summary>The last attempt failed, or the connection ended. It is dialled again.</summary>
    Lost,

    /// <summary>It is not dialled: its endpoint is no endpoint, or was given up.</summary>
    Unusable,
}

/// <summary>One endpoint that a gateway connects to, by a name that the gateway gives it: routing ids of lists may be equal, or change
/// while the endpoint stays.</summary>
/// <remarks>What can be set is guarded by the lock of the <see cref="LinkTable"/>, except the count of outstanding requests.</remarks>
internal sealed class ReceiverLink(string endpoint, uint number, int ejectAfter = 0)
{
    private ServiceInstance _receiver = new("", endpoint);
    private long _outstanding;
    private long _received;
    private long _answered;

    public string Endpoint { get; } = endpoint;

    /// <summary>The endpoint as events, peers and logs have it.</summary>
    public RedactedEndpoint Redacted { get; } = endpoint;

    public uint Number { get; } = number;

    /// <summary>What the ROUTER calls it: 00 and the number, big-endian.</summary>
    public RoutingId Name { get; } = NameOf(number);

    public LinkState State { get; set; }

    /// <summary>Its receiver has said that it is about to end. Until its next connection.</summary>
    public bool IsDraining { get; set; }

    /// <summary>Its receiver executes nothing more of what has no reply. Only the reply loop reads and writes it.</summary>
    public bool HasEndedService { get; set; }

    /// <summary>It has had its first turn.</summary>
    public bool WasDialled { get; set; }

    /// <summary>How often its handshake was complete.</summary>
    public int Connections { get; set; }

    /// <summary>Since when it is in its state.</summary>
    public DateTimeOffset Since { get; set; }

    /// <summary>Why it is not connected, as text.</summary>
    public string? Problem { get; set; }

    /// <summary>The services that list it, in the order in which they came to.</summary>
    public List<Listing> Listings { get; } = new(capacity: 1);

    /// <summary>What the directory says of it; of several services that list it, what the first of them says. Read without the
    /// lock.</summary>
    public ServiceInstance Receiver
    {
        get => Volatile.Read(ref _receiver);
        set => Volatile.Write(ref _receiver, value);
    }

    /// <summary>Counts how often the last service has dropped it: a removal that was meant for an earlier time sees that it was listed
    /// again.</summary>
    public int Removals { get; set; }

    /// <summary>Its messages that wait for the application.</summary>
    public UnreadOfLink Unread { get; } = new();

    /// <summary>Requests that wait for its reply.</summary>
    public long Outstanding => Volatile.Read(ref _outstanding);

    /// <summary>It is connected, and its receiver is not draining.</summary>
    public bool IsUsable => State == LinkState.Ready && !IsDraining;

    /// <summary>Its receiver left requests unanswered: it is out of rotation where its services can do without it.</summary>
    public bool IsEjected => Health.Standing != LinkStanding.In;

    public bool IsInPools => IsUsable && !IsEjected;

    public LinkHealth Health { get; } = new(ejectAfter);

    /// <summary>Counts the messages that came. Only the reply loop writes this and the next one.</summary>
    public long ReceivedCount => Volatile.Read(ref _received);

    /// <summary>Counts the replies that came in time.</summary>
    public long Answered => Volatile.Read(ref _answered);

    public bool IsInproc => InprocEndpoints.IsInproc(Endpoint);

    public Listing? ListingOf(ServicePool pool)
    {
        foreach (Listing listing in Listings)
        {
            if (ReferenceEquals(listing.Pool, pool))
            {
                return listing;
            }
        }

        return null;
    }

    public void BeginRequest() => Interlocked.Increment(ref _outstanding);

    public void EndRequest() => Interlocked.Decrement(ref _outstanding);

    public void CountReceived() => Volatile.Write(ref _received, _received + 1);

    public void CountAnswered() => Volatile.Write(ref _answered, _answered + 1);

    /// <summary>The number in a name that this class made; 0 for any other routing id.</summary>
    public static uint NumberIn(ReadOnlySpan<byte> name) => name is [0, _, _, _, _] ? BinaryPrimitives.ReadUInt32BigEndian(name[1..]) : 0;

    private static byte[] NameOf(uint number)
    {
        byte[] name = new byte[1 + sizeof(uint)];
        BinaryPrimitives.WriteUInt32BigEndian(name.AsSpan(1), number);
        return name;
    }
}
