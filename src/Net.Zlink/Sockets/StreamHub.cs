using System.Collections.Concurrent;
using System.Globalization;
using System.Net;
using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.Stream;
using Net.Zlink.Transports;

namespace Net.Zlink.Sockets;

/// <summary>The inside of one STREAM socket: its peers by id, its endpoints, its receive queue and its books.</summary>
/// <remarks>Safe for any number of threads. Ids count 1, 2, 3 ... in order of arrival (docs/protocol.md section 3); 0 is skipped when they wrap.</remarks>
internal sealed class StreamHub
{
    // Peers that came (and maybe went) before the application read of them: past this many unread events new connections are refused, so that
    // churn cannot fill the memory of a process that does not receive. 65,536 is also the backlog a STREAM listener asks for.
    private const int MaxUnreadEvents = 65_536;

    // How many peers a shutdown report names one by one; the sums count all of them.
    private const int MaxReportedPeers = 1000;

    private readonly ConcurrentDictionary<uint, StreamLink> _links = new();
    private readonly ConcurrentDictionary<uint, StreamLink> _living = new();
    private readonly Lock _gate = new();
    private readonly List<StreamListener> _listeners = [];
    private readonly HashSet<StreamDialer> _dialers = []; // Those that have a connection, or try to make one.
    private readonly List<UndeliveredLink> _undelivered = [];
    private readonly TaskCompletionSource _allClosed = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private uint _lastId;
    private int _pending;
    private int _places;
    private bool _closed;

    public StreamHub(EngineHost host, long receiveBudget)
    {
        Host = host;
        Queue = new PullQueue(receiveBudget, host.Budget);
        Pull = new FramedPeers(new PullSink(this), pulled: true);
    }

    public EngineHost Host { get; }

    public PullQueue Queue { get; }

    /// <summary>A pulled message or an event can be received now. As of now: where others receive too, it may be gone a moment later.</summary>
    public bool IsReadable => Queue.Depth is not { Messages: 0, Events: 0 };

    public SocketMonitors Monitors { get; } = new();

    public StreamCounters Counters { get; } = new();

    public IPeerFactory Pull { get; }

    /// <summary>Peers that can be sent to.</summary>
    public int PeerCount => _links.Count;

    public ICollection<StreamLink> Links => _links.Values;

    public bool IsClosed => Volatile.Read(ref _closed);

    /// <summary>Completes when the hub was closed and the last connection is gone.</summary>
    public Task AllClosed => _allClosed.Task;

    /// <summary>The endpoints that are bound, and those that are connected or tried again.</summary>
    public EndpointStatus[] Endpoints
    {
        get
        {
            lock (_gate)
            {
                return [.. _listeners.Select(static l => new EndpointStatus(l.Endpoint, IsBound: true, l.Staleness)), .. _dialers.Select(static d => new EndpointStatus(d.Text, IsBound: false, d.WhyNotConnected))];
            }
        }
    }

    public bool TryFind(uint id, out StreamLink link) => _links.TryGetValue(id, out link!);

    /// <summary>Binds and starts to accept.</summary>
    public EndpointError Bind(string text, StreamSettings settings, IPeerFactory factory, out string endpoint)
    {
        endpoint = "";
        if (!Transports.Endpoints.TryParseBind(text, out BindTarget target, out EndpointError error))
        {
            return EndpointEvents.BindFailed(Monitors, text, error);
        }

        (ITransportListener? bound, error) = target.Bind(settings.Transport);
        if (bound is null)
        {
            return EndpointEvents.BindFailed(Monitors, text, error);
        }

        var listener = new StreamListener(this, bound, text, settings, factory);
        lock (_gate)
        {
            if (_closed)
            {
                bound.Close();
                return error;
            }

            listener.Announce();
            _listeners.Add(listener);
        }

        endpoint = listener.Endpoint;
        listener.Start();
        return EndpointError.None;
    }

    /// <summary>Closes every listener of that text (as given, or as resolved) and the peers that came in by it.</summary>
    public bool Unbind(BindTarget target)
    {
        List<StreamListener> found;
        lock (_gate)
        {
            found = [.. _listeners];
        }

        found.RemoveAll(l => !l.IsNamedBy(target)); // May look a name up, so not under the lock.
        lock (_gate)
        {
            found.RemoveAll(l => !_listeners.Remove(l)); // Another thread was first.
        }

        foreach (StreamListener listener in found)
        {
            listener.Close();
            foreach (StreamLink link in LivingOf(listener))
            {
                link.KeepsUnread = true; // As natively: who stops listening has not stopped reading.
                link.RequestClose(DisconnectReason.Local, CloseMode.Orderly);
            }
        }

        return found.Count > 0;
    }

    /// <summary>Ends every dialer of that text, and the peers that it has connected to.</summary>
    public bool Disconnect(string text)
    {
        StreamDialer[] found;
        lock (_gate)
        {
            found = [.. _dialers.Where(d => string.Equals(d.Text, text, StringComparison.Ordinal))];
            _dialers.ExceptWith(found); // Another thread finds them no more.
        }

        foreach (StreamDialer dialer in found)
        {
            dialer.Close();
            Interlocked.MemoryBarrier(); // Before its connections are looked for: see Announce.
            foreach (StreamLink link in LivingOf(dialer))
            {
                if (!Disconnect(link.Id, CloseMode.Orderly))
                {
                    link.RequestClose(DisconnectReason.Local, CloseMode.Orderly);
                }
            }
        }

        return found.Length > 0;
    }

    public void Forget(StreamListener listener)
    {
        lock (_gate)
        {
            _listeners.Remove(listener);
        }
    }

    /// <summary>The connections that a listener or a dialer has made.</summary>
    private IEnumerable<StreamLink> LivingOf(object origin) => _living.Values.Where(link => ReferenceEquals(link.Origin, origin));

    /// <summary>A dialer begins. False if the hub is closed.</summary>
    public bool TryAdd(StreamDialer dialer)
    {
        lock (_gate)
        {
            return !_closed && _dialers.Add(dialer);
        }
    }

    /// <summary>A dialer has no connection and makes none any more.</summary>
    public void Forget(StreamDialer dialer)
    {
        lock (_gate)
        {
            _dialers.Remove(dialer);
        }
    }

    /// <summary>Gives an accepted connection a place among <see cref="StreamSettings.MaxConnections"/>, also while it goes through its transport's own handshake: until <see cref="TryRegister"/> or <see cref="GiveUpPlace"/>.</summary>
    /// <returns>Null, or why it must be turned away.</returns>
    public string? TakePlace(StreamSettings settings)
    {
        if (Queue.Depth.Events >= MaxUnreadEvents)
        {
            return $"{MaxUnreadEvents} connect and disconnect events are unread; receive them";
        }

        lock (_gate)
        {
            // Looked at and taken in one step: two listeners may accept at once.
            if (settings.MaxConnections > 0 && _living.Count + _places >= settings.MaxConnections)
            {
                return $"the socket has its {settings.MaxConnections} connections; raise MaxConnections to take more";
            }

            _places++;
            return null;
        }
    }

    /// <summary>No peer has come of it.</summary>
    public void GiveUpPlace()
    {
        lock (_gate)
        {
            _places--;
        }
    }

    /// <summary>A connection is up whose transport's own handshake has yet to come. False if the hub is closed.</summary>
    public bool TryBeginHandshake()
    {
        lock (_gate)
        {
            if (_closed)
            {
                return false;
            }

            _pending++;
            return true;
        }
    }

    /// <summary>That handshake is over, and its peer registered if it has become one.</summary>
    public void EndHandshake()
    {
        lock (_gate)
        {
            _pending--;
            CompleteIfAllClosed();
        }
    }

    /// <summary>Gives a peer its id. False if the hub is closed.</summary>
    public bool TryRegister(string endpoint, object origin, Wire wire, EndPoint? remote, out StreamLink link)
    {
        lock (_gate)
        {
            uint id;
            do
            {
                id = ++_lastId;
            }
            while (id == 0 || _living.ContainsKey(id));

            link = new StreamLink(id, endpoint, origin, wire, remote);
            if (_closed)
            {
                return false;
            }

            _pending++;
            _living[id] = link;
            if (origin is StreamListener)
            {
                _places--; // It sits down in the one that was taken for it.
            }

            return true;
        }
    }

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

    /// <summary>The peer cannot be sent to any more; its end is announced once. True for the caller that has to announce it to the application.</summary>
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
            Host.Warnings.PeerHoldsTooMuch(reason, link.Endpoint, link.RemoteText, detail ?? reason.Words());
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
        connection.Wire.Complaint = fault.Farewell;
        connection.Close(DisconnectReason.ProtocolError, CloseMode.Orderly, fault.Sentence);
    }

    /// <summary>A peer's socket is gone: take over its books.</summary>
    public void OnClosed(StreamLink link)
    {
        LinkCounts counts = link.Count();
        lock (_gate)
        {
            Counters.Closed++;
            Counters.ReceivedMessages += counts.ReceivedMessages;
            Counters.ReceivedBytes += counts.ReceivedBytes;
            Counters.AcceptedMessages += counts.Outbound.AcceptedMessages;
            Counters.AcceptedBytes += counts.Outbound.AcceptedBytes;
            Counters.WrittenMessages += counts.Outbound.WrittenMessages;
            Counters.WrittenBytes += counts.Outbound.WrittenBytes;
            Counters.DroppedMessages += counts.Outbound.DroppedMessages;
            Counters.DroppedBytes += counts.Outbound.DroppedBytes;
            _living.TryRemove(link.Id, out _);
            if (counts.Outbound.DroppedMessages > 0 && _undelivered.Count < MaxReportedPeers)
            {
                _undelivered.Add(new UndeliveredLink(link.Id, link.Endpoint, link.RemoteText, counts.Outbound.DroppedMessages, counts.Outbound.DroppedBytes));
            }

            _pending--;
            CompleteIfAllClosed();
        }

        (link.Origin as StreamDialer)?.OnLost(link.EndReason);
        if (counts.Outbound.DroppedMessages > 0)
        {
            Publish(SocketEventTypes.MessagesDropped, counts.Outbound.DroppedMessages, link, "accepted, but not written when the connection ended");
            Host.Warnings.Undelivered(link.Id.ToString(CultureInfo.InvariantCulture), link.Endpoint, counts.Outbound.DroppedMessages, counts.Outbound.DroppedBytes);
        }
    }

    /// <summary>Adds up everything this hub has seen, living peers included.</summary>
    public StreamCounters Sum()
    {
        var sum = new StreamCounters();
        lock (_gate)
        {
            sum.Add(Counters);
            foreach (StreamLink link in _living.Values)
            {
                sum.Add(link.Count());
            }
        }

        (sum.UnreadMessages, _, _, sum.DroppedUnread) = Queue.Depth;
        return sum;
    }

    /// <summary>What was accepted from the application and could not be written, by peer; of peers whose connection is open yet, what waits.</summary>
    public IReadOnlyList<UndeliveredLink> Undelivered
    {
        get
        {
            List<UndeliveredLink> all;
            lock (_gate)
            {
                all = [.. _undelivered];
            }

            foreach (StreamLink link in _living.Values)
            {
                OutboundCounts counts = link.Count().Outbound;
                if (counts.AcceptedMessages > counts.WrittenMessages && all.Count < MaxReportedPeers)
                {
                    all.Add(new UndeliveredLink(link.Id, link.Endpoint, link.RemoteText, counts.AcceptedMessages - counts.WrittenMessages, counts.AcceptedBytes - counts.WrittenBytes));
                }
            }

            return all;
        }
    }

    /// <summary>Stops accepting and receiving, and ends every peer in order. Returns at once; <see cref="AllClosed"/> follows.</summary>
    public void Close(DisconnectReason reason, TimeSpan? linger, Func<Exception> receiveError)
    {
        StreamListener[] listeners;
        StreamDialer[] dialers;
        lock (_gate)
        {
            if (_closed)
            {
                return;
            }

            _closed = true;
            listeners = [.. _listeners];
            _listeners.Clear();
            dialers = [.. _dialers];
            _dialers.Clear();
        }

        foreach (StreamDialer dialer in dialers)
        {
            dialer.Close();
        }

        foreach (StreamListener listener in listeners)
        {
            listener.Close();
        }

        foreach (StreamLink link in _living.Values)
        {
            link.RequestClose(reason, CloseMode.Orderly, linger);
        }

        Queue.Close(receiveError);
        Monitors.Stop();
        lock (_gate)
        {
            CompleteIfAllClosed();
        }
    }

    /// <summary>Ends what is still there, without waiting for anybody.</summary>
    public void Abort()
    {
        foreach (StreamLink link in _living.Values)
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

    private void CompleteIfAllClosed()
    {
        if (_closed && _pending == 0)
        {
            _allClosed.TrySetResult();
        }
    }
}

/// <summary>Messages of one peer that were accepted but not written.</summary>
internal readonly record struct UndeliveredLink(uint Id, string Endpoint, string Remote, long Messages, long Bytes);
