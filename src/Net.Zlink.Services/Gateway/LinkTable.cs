using System.Buffers.Binary;
using System.Collections.Concurrent;
using Microsoft.Extensions.Logging;
using Net.Zlink.Monitoring;

namespace Net.Zlink.Services;

/// <summary>The links of a gateway by endpoint: what the directory lists is connected, once for all services; what it drops is disconnected
/// after a while.</summary>
/// <remarks>Safe for any number of threads. The lock is held for pointer work and for Connect and Disconnect, which return at
/// once.</remarks>
/// <param name="router">The socket, which has no other connections.</param>
/// <param name="clock">The context's.</param>
/// <param name="logger">Where changes are told.</param>
/// <param name="removedTimeout">How long a link stays that nobody lists any more.</param>
/// <param name="onLost">A link that was ready is not any more; outside of the lock.</param>
internal sealed class LinkTable(
    RouterSocket router, TimeProvider clock, ILogger logger, TimeSpan removedTimeout, Action<ReceiverLink> onLost)
{
    /// <summary>The events that <see cref="OnEvent"/> understands.</summary>
    public const SocketEventTypes Events = SocketEventTypes.ConnectionReady | SocketEventTypes.Disconnected
        | SocketEventTypes.ConnectRetried | SocketEventTypes.ConnectGivenUp
        | SocketEventTypes.HandshakeFailedNoDetail | SocketEventTypes.HandshakeFailedProtocol | SocketEventTypes.HandshakeFailedAuth;

    private readonly Lock _gate = new();
    private readonly Dictionary<string, ReceiverLink> _byEndpoint = new(StringComparer.Ordinal);
    private readonly ConcurrentDictionary<uint, ReceiverLink> _byNumber = new();
    private readonly CancellationTokenSource _stop = new();
    private uint _lastNumber;

    /// <summary>All links, also those that nobody lists any more: a snapshot in the order in which they were made.</summary>
    public ReceiverLink[] All => [.. _byNumber.Values.OrderBy(static link => link.Number)];

    /// <summary>There is one over inproc, which tells no events.</summary>
    public bool HasInproc => _byNumber.Values.Any(static link => link.IsInproc);

    /// <summary>The link by whose connection a message came.</summary>
    public ReceiverLink? Find(ReadOnlySpan<byte> name) =>
        _byNumber.TryGetValue(ReceiverLink.NumberIn(name), out ReceiverLink? link) ? link : null;

    /// <summary>Reads several fields of links as of one moment.</summary>
    public T Read<T>(Func<T> read)
    {
        lock (_gate)
        {
            return read();
        }
    }

    /// <summary>The directory says who serves a service.</summary>
    public void Apply(ServicePool pool, ServiceSnapshot listed) => Replace(pool, listed, isLast: false);

    /// <summary>Nobody uses a service any more: its links go unless another service lists them.</summary>
    public void Remove(ServicePool pool) => Replace(pool, new ServiceSnapshot(pool.Service, []), isLast: true);

    /// <summary>A connection has changed.</summary>
    public void OnEvent(in SocketEvent socketEvent)
    {
        string address = socketEvent.RemoteAddress;
        ReceiverLink? link = Find(socketEvent.PeerRoutingId.Span)
            ?? _byNumber.FirstOrDefault(one => string.Equals(one.Value.Shown, address, StringComparison.Ordinal)).Value;
        if (link is null)
        {
            return;
        }

        LinkState state = socketEvent.Type switch
        {
            SocketEventTypes.ConnectionReady => LinkState.Ready,
            SocketEventTypes.ConnectGivenUp => LinkState.Unusable,
            _ => LinkState.Lost,
        };
        if (socketEvent.Type != SocketEventTypes.ConnectRetried || link.State == LinkState.Connecting)
        {
            SetState(link, state, socketEvent.Detail ?? socketEvent.Type.ToString());
        }
    }

    /// <summary>Its receiver says that it is about to end: it gets no further requests and messages over this connection.</summary>
    public void OnDraining(ReceiverLink link)
    {
        if (!link.IsDraining)
        {
            Change(link, static link => link.IsDraining = true);
            ServicesLog.ReceiverDrains(logger, link.Shown);
        }
    }

    /// <summary>Takes the state of all links from the peers of the socket: events were dropped, or there are none, as over
    /// inproc.</summary>
    public void Reconcile(bool onlyInproc)
    {
        IReadOnlyList<PeerInfo> peers = router.GetPeers();
        foreach (ReceiverLink link in All.Where(link => link.IsInproc || !onlyInproc))
        {
            PeerInfo? peer = peers.FirstOrDefault(peer => peer.RoutingId.Span.SequenceEqual(link.Name))
                ?? peers.FirstOrDefault(peer => string.Equals(peer.Endpoint, link.Shown, StringComparison.Ordinal));
            if (peer is { IsConnected: true })
            {
                // A peer over inproc is connected a moment before the socket has its name.
                if (link.State == LinkState.Ready || router.CanSendTo(link.Name))
                {
                    SetState(link, LinkState.Ready, "");
                }
            }
            else if (link.State != LinkState.Unusable)
            {
                SetState(link, LinkState.Lost, peer?.WhyNotConnected ?? "nobody is bound there");
            }

            if (peer is null && link.IsInproc)
            {
                lock (_gate)
                {
                    if (_byNumber.ContainsKey(link.Number))
                    {
                        Connect(link);
                    }
                }
            }
        }
    }

    /// <summary>No link is disconnected from here on: the socket is being closed.</summary>
    public void Stop() => _stop.Cancel();

    /// <summary>Changes a link under the lock and refreshes its pools.</summary>
    private void Change(ReceiverLink link, Action<ReceiverLink> change)
    {
        bool isLost;
        lock (_gate)
        {
            bool wasReady = link.State == LinkState.Ready;
            change(link);
            isLost = wasReady && link.State != LinkState.Ready;
            link.Pools.ForEach(static pool => pool.Refresh());
        }

        if (isLost)
        {
            onLost(link);
        }
    }

    private void SetState(ReceiverLink link, LinkState state, string problem)
    {
        bool isUpdate = link.State != state;
        if (!isUpdate && state != LinkState.Ready && string.Equals(link.Trouble, problem, StringComparison.Ordinal))
        {
            return;
        }

        Change(link, link =>
        {
            if (state == LinkState.Ready && link.State != state)
            {
                link.Connections++;
                link.IsDraining = false;
            }

            link.Since = link.State == state ? link.Since : clock.GetUtcNow();
            link.State = state;
            link.Trouble = state == LinkState.Ready ? null : problem;
        });
        if (isUpdate && state == LinkState.Ready)
        {
            ServicesLog.ReceiverReady(logger, link.Shown);
        }
        else if (isUpdate)
        {
            ServicesLog.ReceiverNotReady(logger, link.Shown, problem);
        }
    }

    private void Replace(ServicePool pool, ServiceSnapshot listed, bool isLast)
    {
        lock (_gate)
        {
            if (pool.IsRemoved)
            {
                return;
            }

            ReceiverLink[] links = [.. listed.Instances.Select(instance => Add(instance, pool))];
            foreach (ReceiverLink dropped in pool.Links.Except(links))
            {
                dropped.Pools.Remove(pool);
                if (dropped.Pools.Count == 0)
                {
                    _ = DisconnectLaterAsync(dropped, ++dropped.Removals);
                }
                else
                {
                    dropped.Receiver = dropped.Receiver with { Service = dropped.Pools[0].Service };
                }
            }

            pool.Listed = listed;
            pool.Links = links;
            pool.IsRemoved = isLast;
            pool.Refresh();
        }
    }

    private ReceiverLink Add(ServiceInstance instance, ServicePool pool)
    {
        string endpoint = instance.Endpoint;
        if (!_byEndpoint.TryGetValue(endpoint, out ReceiverLink? link))
        {
            link = new ReceiverLink(endpoint, ++_lastNumber) { Since = clock.GetUtcNow() };
            _byEndpoint.Add(endpoint, link);
            _byNumber[link.Number] = link;
            Connect(link);
        }

        if (!link.Pools.Contains(pool))
        {
            link.Pools.Add(pool); // One that nobody had listed is revived with that: its removal finds a pool.
        }

        if (ReferenceEquals(link.Pools[0], pool))
        {
            link.Receiver = instance;
        }

        return link;
    }

    private void Connect(ReceiverLink link)
    {
        try
        {
            router.Connect(link.Endpoint, link.Name);
        }
        catch (Exception e) when (e is ZlinkException or ArgumentException)
        {
            link.State = LinkState.Unusable;
            link.Trouble = e.Message;
            ServicesLog.ReceiverUnusable(logger, link.Shown, e.Message);
        }
    }

    private async Task DisconnectLaterAsync(ReceiverLink link, int removal)
    {
        await Task.Delay(removedTimeout, clock, _stop.Token)
            .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing | ConfigureAwaitOptions.ForceYielding);
        lock (_gate)
        {
            if (_stop.IsCancellationRequested || link.Removals != removal || link.Pools.Count > 0)
            {
                return;
            }

            _byEndpoint.Remove(link.Endpoint);
            _byNumber.TryRemove(link.Number, out _);
            link.State = LinkState.Unusable;
            link.Trouble = "it is not listed any more";
            try
            {
                router.Disconnect(link.Endpoint);
            }
            catch (Exception e) when (e is ZlinkException or ObjectDisposedException)
            {
                // It is gone already: an endpoint that was given up, an inproc binder that has closed, or the whole socket.
            }
        }

        ServicesLog.ReceiverDisconnected(logger, link.Shown);
        onLost(link); // A disconnect of ours raises no event.
    }
}

/// <summary>Where the connection to a receiver stands.</summary>
internal enum LinkState
{
    /// <summary>The first attempt to connect is under way.</summary>
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
internal sealed class ReceiverLink(string endpoint, uint number)
{
    private ServiceInstance _receiver = new("", endpoint);
    private long _outstanding;

    public string Endpoint { get; } = endpoint;

    /// <summary>The endpoint as events, peers and logs have it.</summary>
    public string Shown { get; } = new ShownEndpoint(endpoint).ToString();

    public uint Number { get; } = number;

    /// <summary>What the ROUTER calls it: 00 and the number, big-endian.</summary>
    public byte[] Name { get; } = NameOf(number);

    public LinkState State { get; set; }

    /// <summary>Its receiver has said that it is about to end. Until its next connection.</summary>
    public bool IsDraining { get; set; }

    /// <summary>Its receiver executes nothing more of what has no reply. Only the reply loop reads and writes it.</summary>
    public bool HasEndedService { get; set; }

    /// <summary>How often its handshake was complete.</summary>
    public int Connections { get; set; }

    /// <summary>Since when it is in its state.</summary>
    public DateTimeOffset Since { get; set; }

    /// <summary>Why it is not connected, for people.</summary>
    public string? Trouble { get; set; }

    /// <summary>The services that list it, in the order in which they came to.</summary>
    public List<ServicePool> Pools { get; } = [];

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

    /// <summary>Requests that wait for its reply.</summary>
    public long Outstanding => Volatile.Read(ref _outstanding);

    public bool IsInPools => State == LinkState.Ready && !IsDraining;

    public bool IsInproc => InprocEndpoints.IsInproc(Endpoint);

    public void BeginRequest() => Interlocked.Increment(ref _outstanding);

    public void EndRequest() => Interlocked.Decrement(ref _outstanding);

    /// <summary>The number in a name that this class made; 0 for any other routing id.</summary>
    public static uint NumberIn(ReadOnlySpan<byte> name) => name is [0, _, _, _, _] ? BinaryPrimitives.ReadUInt32BigEndian(name[1..]) : 0;

    private static byte[] NameOf(uint number)
    {
        byte[] name = new byte[1 + sizeof(uint)];
        BinaryPrimitives.WriteUInt32BigEndian(name.AsSpan(1), number);
        return name;
    }
}
