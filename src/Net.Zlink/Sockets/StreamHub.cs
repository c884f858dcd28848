using System.Collections.Concurrent;
using System.Globalization;
using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.Stream;
using Net.Zlink.Sockets.Endpoints;

namespace Net.Zlink.Sockets;

internal sealed class StreamHub
{
    // Beyond this many unread events new connections are refused, so that churn cannot fill the memory of a process that does not receive.
    private const int MaxUnreadEvents = 65_536;

    private readonly ConcurrentDictionary<uint, StreamLink> _links = new();

    public StreamHub(EngineHost host, long receiveBudget)
    {
        Host = host;
        Links = new StreamLinks(Counters, Parts);
        Endpoints = new EndpointTable(host, Monitors, Counters, Parts);
        Queue = new PullQueue(receiveBudget, host.Budget);
        Pull = new FramedPeers(new PullSink(this), pulled: true);
    }

    public EngineHost Host { get; }

    public PullQueue Queue { get; }

    public bool IsReadable => Queue.Depth is not { Messages: 0, Events: 0 };

    public SocketMonitors Monitors { get; } = new();

    public StreamCounters Counters { get; } = new();

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
    public string? AcquireConnection(StreamSettings settings) => Queue.Depth.Events >= MaxUnreadEvents
        ? $"{MaxUnreadEvents} connect and disconnect events are unread; receive them"
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

    public void Refuse(StreamLink link, Connection connection, uint announced)
    {
        var fault = new TooLongFrame(announced, connection.Settings.MessageLimit, connection.Wire.IsPacked);
        Host.Warnings.PeerBrokeProtocol(link.Endpoint, link.RemoteText, fault.Kind, fault.Sentence);
        connection.Wire.CloseReason = fault.CloseReason;
        connection.Close(DisconnectReason.ProtocolError, CloseMode.Orderly, fault.Sentence);
    }

    public void OnClosed(StreamLink link)
    {
        LinkCounts counts = link.Count();
        Links.Close(link, counts);
        (link.Origin as StreamConnecter)?.OnEnded(link.EndReason);
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
