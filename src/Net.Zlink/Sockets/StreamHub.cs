using System.Buffers.Binary;
using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.Stream;
using Net.Zlink.Sockets.Endpoints;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Transports;

namespace Net.Zlink.Sockets;

internal sealed class StreamHub : SocketBase
{
    // Beyond this many unread events new connections are refused, so that churn cannot fill the memory of a process that does not receive.
    private const int MaxUnreadNotices = 65_536;

    private int _peerCount;
    private int _unreadNotices;

    public StreamHub(EngineHost host, SocketQuota? total)
        : base(host, new ReceiveQueue(isInArrivalOrder: false, ReceiveQueue.LongTurn, total))
    {
        Links = new StreamLinks(this);
        Total = total;
    }

    public override string TypeName => "STREAM";

    public override bool CanSend => true;

    public SocketQuota? Total { get; }

    public override int PeerCount => Volatile.Read(ref _peerCount);

    public IEnumerable<StreamLink> Peers => Links.All.Where(static link => link.IsPeer);

    public StreamLinks Links { get; }

    public EndpointStatus[] Endpoints => [.. Table.Bound, .. Table.Dialers.Select(
        static dialer => new EndpointStatus(dialer.Text, IsBound: false, dialer.Problem is { } why ? $"not connected: {why}" : null))];

    public bool TryFind(uint id, out StreamLink link) => Links.TryFind(id, out link!) && link.IsPeer;

    /// <inheritdoc cref="StreamLinks.AcquireConnection"/>
    public string? AcquireConnection(StreamSettings settings) => Volatile.Read(ref _unreadNotices) >= MaxUnreadNotices
        ? $"{MaxUnreadNotices} connect and disconnect events are unread; receive them"
        : Links.AcquireConnection(settings);

    /// <summary>Null: the connection was reset at once, and the wire is disposed. The caller has entered the socket.</summary>
    public StreamLink? Open(
        Wire wire, StreamSettings settings, PeerFactory factory, RedactedEndpoint endpoint, IConnectionOrigin origin)
    {
        if (wire.RemoteEndPoint is null)
        {
            wire.Dispose();
            return null;
        }

        StreamLink link = Links.Register(endpoint, origin, wire);
        Connection connection = factory(link, wire, settings);
        link.Connection = connection;
        Report(link, wire);
        Announce(link);
        connection.Start();
        return link;
    }

    public Connection Frame(StreamLink link, Wire wire, StreamSettings settings, IConnectionSink sink)
    {
        var outbound = new OutboundQueue(Host.Pool, StreamFraming.Format, settings.Connection.Outbound, Host.Queued)
        {
            CapacityAvailable = link.OnCapacity,
        };
        return new Connection(wire, Host.Shards.For(wire), Host.Pool, settings.Connection, sink, outbound)
        {
            Unfinished = Host.Unfinished,
        };
    }

    private void Announce(StreamLink link)
    {
        // Before it is a peer, so that the number never falls below zero. A connection that was closed meanwhile becomes none.
        Interlocked.Increment(ref _peerCount);
        Interlocked.Add(ref _peerCount, link.TryBegin() ? 0 : -1);

        if (link.Lane is { } lane)
        {
            Interlocked.Increment(ref _unreadNotices);
            AnnounceNotice(lane, isEnd: false);
        }

        if (IsClosed || link.Origin is BoundListener { IsClosed: true })
        {
            link.RequestClose(DisconnectReason.Local, CloseMode.Orderly);
        }
    }

    private void Report(StreamLink link, Wire wire)
    {
        if (Monitors.IsEmpty)
        {
            return;
        }

        (string ours, string theirs) = link.Ends;
        if (!wire.HadHandshake)
        {
            bool accepted = link.Origin is BoundListener;
            Monitors.Publish(accepted ? SocketEventTypes.Accepted : SocketEventTypes.Connected, wire.Handle, ours, theirs, link.Id);
        }

        Monitors.Publish(SocketEventTypes.ConnectionReady, 0, ours, theirs, link.Id);
    }

    /// <summary>True for the one caller that announces the end to the application.</summary>
    public bool EndPeer(StreamLink link, DisconnectReason reason, string? detail)
    {
        if (!link.TryEnd(reason, out bool wasPeer))
        {
            return false;
        }

        Interlocked.Add(ref _peerCount, wasPeer ? -1 : 0);

        // As in the native core, a connection that this side ends in order raises no event.
        if (reason is not (DisconnectReason.Local or DisconnectReason.ContextTerminated) && !Monitors.IsEmpty)
        {
            Publish(SocketEventTypes.Disconnected, (long)reason, link, detail ?? reason.Words());
        }

        if (reason == DisconnectReason.UnfinishedByteLimit)
        {
            Host.Warnings.PeerUnfinishedLimit(reason, link.Endpoint, link.RemoteText, detail ?? reason.Words());
        }

        Log.PeerGone(Host.Logger, link.Id, link.Endpoint, reason, detail ?? reason.Words());
        return true;
    }

    /// <summary>Disconnects a peer for the application: its id is removed at once, and accepted messages are still written.</summary>
    public bool Disconnect(uint id, CloseMode mode)
    {
        if (!TryFind(id, out StreamLink link) || !EndPeer(link, DisconnectReason.Local, detail: null))
        {
            return false;
        }

        AnnounceEnd(link, dropUnread: true);
        link.RequestClose(DisconnectReason.Local, mode);
        return true;
    }

    /// <summary>Once for each peer. Its unread messages come before, unless they are dropped.</summary>
    public void AnnounceEnd(StreamLink link, bool dropUnread)
    {
        if (link.Lane is not { } lane)
        {
            return;
        }

        if (dropUnread)
        {
            Receive.Drop(lane);
        }

        Interlocked.Increment(ref _unreadNotices);
        lane.MarkDetached();
        AnnounceNotice(lane, isEnd: true);
    }

    private void AnnounceNotice(InboundLane lane, bool isEnd)
    {
        if (lane.AddNotice(isEnd))
        {
            Receive.Enqueue(lane, messages: 0);
        }
    }

    public void OnNoticeRead() => Interlocked.Decrement(ref _unreadNotices);

    public void ReportFault(StreamLink link, Exception exception)
    {
        Interlocked.Increment(ref Counters.HandlerFaults);
        Publish(SocketEventTypes.HandlerFailed, 0, link, ExceptionText.Of(exception));
        Log.HandlerFailed(Host.Logger, exception, link.Id, link.Endpoint);
    }

    public void Refuse(StreamLink link, Connection connection, uint announced)
    {
        var fault = new TooLongFrame(announced, connection.Settings.MessageLimit, connection.Wire.IsPacked);
        Host.Warnings.PeerBrokeProtocol(link.Endpoint, link.RemoteText, fault.Kind, fault.Sentence);
        connection.Wire.CloseReason = fault.CloseReason;
        connection.Close(DisconnectReason.ProtocolError, CloseMode.Orderly, fault.Sentence);
    }

    public void OnClosed(StreamLink link)
    {
        QueueCounts counts = Links.Close(link);
        link.Origin?.OnConnectionEnded(link.EndReason);
        if (counts.DroppedMessages > 0)
        {
            Publish(SocketEventTypes.MessagesDropped, counts.DroppedMessages, link, "accepted, but not written when the connection ended");
            Host.Warnings.Undelivered(link.Id.ToString(CultureInfo.InvariantCulture), link.Endpoint, counts.DroppedMessages,
                counts.DroppedBytes);
        }
    }

    /// <summary>Returns at once; <see cref="CloseTracker.AllClosed"/> completes later.</summary>
    public void Close(TimeSpan linger, SocketEnd end)
    {
        if (!TryEnd(end))
        {
            return;
        }

        Table.CloseDialers(end.Reason, linger);
        Table.CloseListeners();
        foreach (StreamLink link in Links.All)
        {
            link.RequestClose(end.Reason, CloseMode.Orderly, linger);
        }

        Receive.Close(end.Error);
        foreach (StreamLink link in Links.All)
        {
            if (link.Lane is { } lane)
            {
                Receive.Drop(lane);
            }
        }

        Monitors.Stop();
        Parts.Leave();
    }

    public override void Abort()
    {
        foreach (StreamLink link in Links.All)
        {
            link.RequestClose(DisconnectReason.ContextTerminated, CloseMode.Leave);
        }
    }

    protected override SendStatus Route(SendWaiter waiter) =>
        TryFind(BinaryPrimitives.ReadUInt32LittleEndian(waiter.Target.RouteId), out StreamLink link)
            ? link.Append(waiter.Deferred.AsOutgoing()) : SendStatus.Closed;

    private void Publish(SocketEventTypes type, long value, StreamLink link, string detail)
    {
        if (!Monitors.IsEmpty)
        {
            (string local, string remote) = link.Ends;
            Monitors.Publish(type, value, local, remote, link.Id, detail);
        }
    }
}

/// <summary>Ids count 1, 2, 3 ... in order of arrival (docs/protocol.md section 3) and skip 0 when they wrap.</summary>
internal sealed class StreamLinks(StreamHub hub)
{
    private readonly Lock _gate = new();
    private readonly ConcurrentDictionary<uint, StreamLink> _living = new();
    private readonly ListsByKey<IConnectionOrigin, StreamLink> _byOrigin = new();
    private uint _lastId;
    private ConnectionLimit _connectionLimit;

    public ICollection<StreamLink> All => _living.Values;

    public bool TryFind(uint id, [NotNullWhen(true)] out StreamLink? link) => _living.TryGetValue(id, out link);

    public StreamLink[] Of(IConnectionOrigin origin)
    {
        lock (_gate)
        {
            return _byOrigin.Of(origin);
        }
    }

    public string? AcquireConnection(StreamSettings settings)
    {
        lock (_gate)
        {
            return _connectionLimit.Acquire(_byOrigin.Count, settings.MaxConnections);
        }
    }

    public void ReleaseConnection()
    {
        lock (_gate)
        {
            _connectionLimit.Release();
        }
    }

    /// <summary>The caller has entered the socket; the link is a part of it until it is closed.</summary>
    public StreamLink Register(RedactedEndpoint endpoint, IConnectionOrigin origin, Wire wire)
    {
        hub.Parts.Reenter();
        StreamLink link;
        lock (_gate)
        {
            uint id;
            do
            {
                id = ++_lastId;
            }
            while (id == 0 || _living.ContainsKey(id));

            link = new StreamLink(id, endpoint, origin, wire, hub);
            _living[id] = link;
            _byOrigin.Add(origin, link);
            if (origin is BoundListener)
            {
                _connectionLimit.Release();
            }
        }

        hub.Counters.Open(link);
        return link;
    }

    public QueueCounts Close(StreamLink link)
    {
        hub.Counters.TryFinalize(link, out QueueCounts outbound);
        Interlocked.Increment(ref hub.Counters.Closed);
        lock (_gate)
        {
            _living.TryRemove(link.Id, out _);
            _byOrigin.Remove(link.Origin!, link);
        }

        hub.Parts.Leave();
        return outbound;
    }
}
