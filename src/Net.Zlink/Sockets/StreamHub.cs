using System.Collections.Concurrent;
using System.Globalization;
using System.Net;
using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.Stream;
using Net.Zlink.Transports;

namespace Net.Zlink.Sockets;

/// <summary>The core of one STREAM socket: its peers by id, and its receive queue. Thread-safe.</summary>
internal sealed class StreamHub
{
    // Beyond this many unread events new connections are refused, so that churn cannot fill the memory of a process that does not receive.
    // 65,536 is also the backlog of a STREAM listener.
    private const int MaxUnreadEvents = 65_536;

    private readonly ConcurrentDictionary<uint, StreamLink> _links = new();

    public StreamHub(EngineHost host, long receiveBudget)
    {
        Host = host;
        Links = new StreamLinks(Counters, Parts);
        Endpoints = new StreamEndpoints(this);
        Queue = new PullQueue(receiveBudget, host.Budget);
        Pull = new FramedPeers(new PullSink(this), pulled: true);
    }

    public EngineHost Host { get; }

    public PullQueue Queue { get; }

    /// <summary>A message or an event can be received now. With several receivers another one may take it.</summary>
    public bool IsReadable => Queue.Depth is not { Messages: 0, Events: 0 };

    public SocketMonitors Monitors { get; } = new();

    public StreamCounters Counters { get; } = new();

    public IPeerFactory Pull { get; }

    public int PeerCount => _links.Count;

    /// <summary>The peers that can be sent to, in no particular order.</summary>
    public ICollection<StreamLink> Peers => _links.Values;

    /// <summary>All connections, also those whose peer has ended.</summary>
    public StreamLinks Links { get; }

    public StreamEndpoints Endpoints { get; }

    /// <summary>What must end before the closed hub has ended: connections and transport handshakes.</summary>
    public CloseTracker Parts { get; } = new();

    public bool IsClosed => Parts.IsClosed;

    /// <summary>Completes when the hub is closed and the last connection has ended.</summary>
    public Task AllClosed => Parts.AllClosed;

    public bool TryFind(uint id, out StreamLink link) => _links.TryGetValue(id, out link!);

    /// <inheritdoc cref="StreamLinks.AcquireConnection"/>
    public string? AcquireConnection(StreamSettings settings) => Queue.Depth.Events >= MaxUnreadEvents
        ? $"{MaxUnreadEvents} connect and disconnect events are unread; receive them"
        : Links.AcquireConnection(settings);

    /// <inheritdoc cref="StreamLinks.TryRegister"/>
    public bool TryRegister(string endpoint, object origin, Wire wire, EndPoint? remote, out StreamLink link) =>
        Links.TryRegister(endpoint, origin, wire, remote, out link);

    /// <summary>The peer has its connection, and can be found by its id from now on.</summary>
    public void Announce(StreamLink link)
    {
        _links[link.Id] = link;
        if (link.HasEnded)
        {
            // It ended between the two steps, and the ending thread found nothing to remove.
            _links.TryRemove(new KeyValuePair<uint, StreamLink>(link.Id, link));
        }
        else if (IsClosed || link.Origin is StreamListener { IsClosed: true } or StreamDialer { IsClosed: true })
        {
            // The hub, listener or dialer was closed between the two steps and may not have seen the connection.
            link.RequestClose(DisconnectReason.Local, CloseMode.Orderly);
        }
    }

    /// <summary>Ends a peer: it cannot be sent to any more. True for the one caller that announces it to the application.</summary>
    public bool EndPeer(StreamLink link, DisconnectReason reason, string? detail)
    {
        // First ended, then removed. Announce adds first and then checks for the end, so one of the two removes it.
        bool isFirst = link.TryEnd(reason);
        _links.TryRemove(new KeyValuePair<uint, StreamLink>(link.Id, link));
        if (!isFirst)
        {
            return false;
        }

        // As in the native core, a connection that this side ends in order raises no event.
        if (reason is not (DisconnectReason.Local or DisconnectReason.ContextTerminated) && !Monitors.IsEmpty)
        {
            Publish(SocketEventTypes.Disconnected, reason.ToNativeReason(), link, detail ?? reason.Words());
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

        if (link.Pull is not null)
        {
            Queue.PublishDisconnected(link.Pull, dropUnread: true);
        }

        link.RequestClose(DisconnectReason.Local, mode);
        return true;
    }

    public void ReportFault(StreamLink link, Exception exception)
    {
        Interlocked.Increment(ref Counters.HandlerFaults);
        Publish(SocketEventTypes.HandlerFailed, 0, link, ExceptionText.Of(exception));
        Log.HandlerFailed(Host.Logger, exception, link.Id, link.Endpoint);
    }

    /// <summary>Ends a peer whose frame is over the limit, with the WebSocket close code if there is one.</summary>
    public void Refuse(StreamLink link, Connection connection, uint announced)
    {
        var fault = new TooLongFrame(announced, connection.Settings.MessageLimit, connection.Wire.IsPacked);
        Host.Warnings.PeerBrokeProtocol(link.Endpoint, link.RemoteText, fault.Kind, fault.Sentence);
        connection.Wire.Complaint = fault.CloseReason;
        connection.Close(DisconnectReason.ProtocolError, CloseMode.Orderly, fault.Sentence);
    }

    /// <summary>The connection has ended: adds its counts to the totals.</summary>
    public void OnClosed(StreamLink link)
    {
        LinkCounts counts = link.Count();
        Links.Close(link, counts);
        (link.Origin as StreamDialer)?.OnLost(link.EndReason);
        if (counts.Outbound.DroppedMessages > 0)
        {
            Publish(SocketEventTypes.MessagesDropped, counts.Outbound.DroppedMessages, link,
                "accepted, but not written when the connection ended");
            Host.Warnings.Undelivered(link.Id.ToString(CultureInfo.InvariantCulture), link.Endpoint, counts.Outbound.DroppedMessages,
                counts.Outbound.DroppedBytes);
        }
    }

    public StreamCounters Sum()
    {
        StreamCounters sum = Links.Sum();
        sum.Peers = PeerCount;
        (sum.UnreadMessages, _, _, sum.DroppedUnread) = Queue.Depth;
        return sum;
    }

    /// <summary>
    /// Stops accepting and receiving, and ends every peer in order. Returns at once; <see cref="AllClosed"/> completes later.
    /// </summary>
    public void Close(DisconnectReason reason, TimeSpan? linger, Func<Exception> receiveError)
    {
        if (!Parts.TryClose())
        {
            return;
        }

        Endpoints.Close();
        foreach (StreamLink link in Links.All)
        {
            link.RequestClose(reason, CloseMode.Orderly, linger);
        }

        Queue.Close(receiveError);
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

    private void Publish(SocketEventTypes type, long value, StreamLink link, string detail)
    {
        if (!Monitors.IsEmpty)
        {
            (string local, string remote) = link.Ends;
            Monitors.Publish(type, value, local, remote, link.Id, detail);
        }
    }
}
