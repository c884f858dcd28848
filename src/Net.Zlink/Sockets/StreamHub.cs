using System.Collections.Concurrent;
using System.Globalization;
using System.Net;
using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.Stream;
using Net.Zlink.Transports;

namespace Net.Zlink.Sockets;

/// <summary>The inside of one STREAM socket: the peers that can be sent to, by id, how each of them comes and ends, and the receive
/// queue.</summary>
/// <remarks>Safe for any number of threads.</remarks>
internal sealed class StreamHub
{
    // Peers that came (and maybe went) before the application read of them: past this many unread events new connections are refused, so
    // that churn cannot fill the memory of a process that does not receive. 65,536 is also the backlog a STREAM listener asks for.
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

    /// <summary>A pulled message or an event can be received now. As of now: where others receive too, it may be gone a moment
    /// later.</summary>
    public bool IsReadable => Queue.Depth is not { Messages: 0, Events: 0 };

    public SocketMonitors Monitors { get; } = new();

    public StreamCounters Counters { get; } = new();

    public IPeerFactory Pull { get; }

    /// <summary>Peers that can be sent to.</summary>
    public int PeerCount => _links.Count;

    /// <summary>The same, in no particular order.</summary>
    public ICollection<StreamLink> Peers => _links.Values;

    /// <summary>All connections, also those whose peer cannot be sent to any more.</summary>
    public StreamLinks Links { get; }

    public StreamEndpoints Endpoints { get; }

    /// <summary>What has to end before the closed hub has: connections, and handshakes of their transports.</summary>
    public CloseTracker Parts { get; } = new();

    public bool IsClosed => Parts.IsClosed;

    /// <summary>Completes when the hub was closed and the last connection is gone.</summary>
    public Task AllClosed => Parts.AllClosed;

    public bool TryFind(uint id, out StreamLink link) => _links.TryGetValue(id, out link!);

    /// <inheritdoc cref="StreamLinks.AcquireConnection"/>
    public string? AcquireConnection(StreamSettings settings) => Queue.Depth.Events >= MaxUnreadEvents
        ? $"{MaxUnreadEvents} connect and disconnect events are unread; receive them"
        : Links.AcquireConnection(settings);

    /// <inheritdoc cref="StreamLinks.TryRegister"/>
    public bool TryRegister(string endpoint, object origin, Wire wire, EndPoint? remote, out StreamLink link) =>
        Links.TryRegister(endpoint, origin, wire, remote, out link);

    /// <summary>The peer has its connection: from here on it can be found by its id.</summary>
    public void Announce(StreamLink link)
    {
        _links[link.Id] = link;
        if (link.HasEnded)
        {
            // Ended between the two steps: whoever ended it found nothing to take out.
            _links.TryRemove(new KeyValuePair<uint, StreamLink>(link.Id, link));
        }
        else if (IsClosed || link.Origin is StreamListener { IsClosed: true } or StreamDialer { IsClosed: true })
        {
            // The hub, the listener or the dialer closed between the two steps and may not have seen the connection.
            link.RequestClose(DisconnectReason.Local, CloseMode.Orderly);
        }
    }

    /// <summary>The peer cannot be sent to any more; its end is announced once. True for the caller that has to announce it to the
    /// application.</summary>
    public bool EndPeer(StreamLink link, DisconnectReason reason, string? detail)
    {
        // Ended first, then taken out: Announce puts it in first and then looks whether it has ended, so one of the two takes it out.
        bool isFirst = link.TryEnd(reason);
        _links.TryRemove(new KeyValuePair<uint, StreamLink>(link.Id, link));
        if (!isFirst)
        {
            return false;
        }

        // A connection that this side ends in order raises no event here, as in the native core.
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

    /// <summary>Ends a peer on the application's wish: the id is gone at once, what was accepted is still written.</summary>
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

    /// <summary>Ends a peer that announced a frame over the limit, and tells it why where the transport has a word for that.</summary>
    public void Refuse(StreamLink link, Connection connection, uint announced)
    {
        var fault = new TooLongFrame(announced, connection.Settings.MessageLimit, connection.Wire.IsPacked);
        Host.Warnings.PeerBrokeProtocol(link.Endpoint, link.RemoteText, fault.Kind, fault.Sentence);
        connection.Wire.Complaint = fault.CloseReason;
        connection.Close(DisconnectReason.ProtocolError, CloseMode.Orderly, fault.Sentence);
    }

    /// <summary>A peer's socket is gone: take over its books.</summary>
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

    /// <summary>Adds up everything this hub has seen, living peers included.</summary>
    public StreamCounters Sum()
    {
        StreamCounters sum = Links.Sum();
        sum.Peers = PeerCount;
        (sum.UnreadMessages, _, _, sum.DroppedUnread) = Queue.Depth;
        return sum;
    }

    /// <summary>Stops accepting and receiving, and ends every peer in order. Returns at once; <see cref="AllClosed"/> follows.</summary>
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

    /// <summary>Ends what is still there, without waiting for anybody.</summary>
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
