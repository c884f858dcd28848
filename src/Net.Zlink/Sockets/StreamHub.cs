using System.Buffers.Binary;
using System.Collections.Concurrent;
using System.Globalization;
using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.Stream;
using Net.Zlink.Sockets.Endpoints;
using Net.Zlink.Sockets.Links;

namespace Net.Zlink.Sockets;

internal sealed class StreamHub
{
    // Beyond this many unread events new connections are refused, so that churn cannot fill the memory of a process that does not receive.
    private const int MaxUnreadNotices = 65_536;

    private readonly ConcurrentDictionary<uint, StreamLink> _links = new();
    private int _unreadNotices;

    public StreamHub(EngineHost host, long totalReceiveBytes)
    {
        Host = host;
        BlockedSends = new BlockedSendQueue(Route);
        Links = new StreamLinks(this);
        Endpoints = new EndpointTable(host, Monitors, Counters, Parts);
        Total = SocketQuota.Of(totalReceiveBytes);
        Pull = new FramedPeers(new PullSink(this), pulled: true);
    }

    public EngineHost Host { get; }

    public ReceiveQueue Receive { get; } = new(isInArrivalOrder: false, ReceiveQueue.LongTurn);

    public BlockedSendQueue BlockedSends { get; }

    public SocketQuota? Total { get; }

    public SocketMonitors Monitors { get; } = new();

    public SocketCounters Counters { get; } = new();

    public IPeerFactory Pull { get; }

    public int PeerCount => _links.Count;

    public ICollection<StreamLink> Peers => _links.Values;

    public StreamLinks Links { get; }

    public EndpointTable Endpoints { get; }

    public EndpointStatus[] EndpointStatuses => [.. Endpoints.Bound, .. Endpoints.Dialers.Select(
        static dialer => new EndpointStatus(dialer.Text, IsBound: false, dialer.Problem is { } why ? $"not connected: {why}" : null))];

    public CloseTracker Parts { get; } = new();

    public bool IsClosed => Parts.IsClosed;

    public Task AllClosed => Parts.AllClosed;

    public bool TryFind(uint id, out StreamLink link) => _links.TryGetValue(id, out link!);

    /// <inheritdoc cref="StreamLinks.AcquireConnection"/>
    public string? AcquireConnection(StreamSettings settings) => Volatile.Read(ref _unreadNotices) >= MaxUnreadNotices
        ? $"{MaxUnreadNotices} connect and disconnect events are unread; receive them"
        : Links.AcquireConnection(settings);

    public void Announce(StreamLink link)
    {
        _links[link.Id] = link;
        if (link.HasEnded)
        {
            _links.TryRemove(new KeyValuePair<uint, StreamLink>(link.Id, link));
        }
        else if (IsClosed || link.Origin is BoundListener { IsClosed: true })
        {
            link.RequestClose(DisconnectReason.Local, CloseMode.Orderly);
        }
    }

    /// <summary>True for the one caller that announces the end to the application.</summary>
    public bool EndPeer(StreamLink link, DisconnectReason reason, string? detail)
    {
        // The peer is marked as ended first: Announce adds first and then checks for the end, so one of the two removes it.
        bool isFirst = link.TryEnd(reason);
        _links.TryRemove(new KeyValuePair<uint, StreamLink>(link.Id, link));
        if (!isFirst)
        {
            return false;
        }

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

    public void AnnounceConnect(StreamLink link)
    {
        Interlocked.Increment(ref _unreadNotices);
        link.Lane!.AnnounceConnect();
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
            Total?.PausedReaders.ResumeWaiters();
        }

        Interlocked.Increment(ref _unreadNotices);
        lane.MarkDetached();
        lane.AnnounceEnd();
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
        Total?.PausedReaders.Remove(Volatile.Read(ref link.PausedReader));
        QueueCounts counts = Links.Close(link);
        link.Origin?.OnConnectionEnded(link.EndReason);
        if (counts.DroppedMessages > 0)
        {
            Publish(SocketEventTypes.MessagesDropped, counts.DroppedMessages, link, "accepted, but not written when the connection ended");
            Host.Warnings.Undelivered(link.Id.ToString(CultureInfo.InvariantCulture), link.Endpoint, counts.DroppedMessages,
                counts.DroppedBytes);
        }
    }

    /// <summary>Returns at once; <see cref="AllClosed"/> completes later.</summary>
    public void Close(DisconnectReason reason, TimeSpan? linger, Func<Exception> receiveError)
    {
        if (!Parts.TryClose())
        {
            return;
        }

        Endpoints.CloseDialers(reason, linger);
        Endpoints.CloseListeners();
        foreach (StreamLink link in Links.All)
        {
            link.RequestClose(reason, CloseMode.Orderly, linger);
        }

        Receive.Close(receiveError);
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

    public void Abort()
    {
        foreach (StreamLink link in Links.All)
        {
            link.RequestClose(DisconnectReason.ContextTerminated, CloseMode.Leave);
        }
    }

    private SendStatus Route(SendWaiter waiter) =>
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
