using Microsoft.Extensions.Logging;

namespace Net.Zlink.Services;

/// <summary>The XPUB socket of a registry: sends the list to everybody when it is due, and to each new subscriber alone.</summary>
internal sealed class RegistryPublisher : IAsyncDisposable
{
    private const byte Subscribes = 1;

    private readonly XPubSocket _socket;
    private readonly RegistryCore _core;
    private readonly BroadcastSchedule _schedule;
    private readonly MessageBuilder _message;
    private readonly ITimer _later;
    private readonly BackgroundLoop _notices;
    private readonly ILogger _logger;

    // Held while a list is encoded and sent: lists go out in the order of their numbers. The core's lock is taken inside it.
    private readonly Lock _gate = new();
    private long _listsSent;
    private bool _isEnded;

    public RegistryPublisher(ZlinkContext context, XPubSocket socket, RegistryCore core, RegistryOptions options, ILogger logger)
    {
        _socket = socket;
        _core = core;
        _logger = logger;
        _schedule = new BroadcastSchedule(options.MinBroadcastInterval, options.BroadcastInterval, core.Sequence, core.Now);
        _message = new MessageBuilder(context.Pool);
        _later = context.TimeProvider.CreateTimer(static state => ((RegistryPublisher)state!).BroadcastIfDue(), this,
            Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        _notices = BackgroundLoop.Start("registry's subscriptions", logger, context.TimeProvider, AnswerAsync);
    }

    public long ListsSent => Interlocked.Read(ref _listsSent);

    public int Subscribers => _socket.PeerCount;

    /// <summary>Sends the list to everybody if it changed or is due; one that came too early is sent later.</summary>
    public void BroadcastIfDue()
    {
        try
        {
            lock (_gate)
            {
                if (_isEnded)
                {
                    return;
                }

                ulong sequence = _core.Sequence;
                bool isPeriodic = !_schedule.HasChanged(sequence);
                TimeSpan delay = _schedule.DueAt(sequence) - _core.Now;
                if (delay <= TimeSpan.Zero)
                {
                    RegistryLists lists = _core.GetLists(renumber: isPeriodic && _core.SendsPairs);
                    _schedule.Sent(_core.Now, lists.Sequence);
                    Broadcast(lists);
                }
                else if (!isPeriodic)
                {
                    _later.ChangeDue(delay);
                }
            }
        }
        catch (Exception e) when (e is ObjectDisposedException or ZlinkException { Error: ZlinkError.ContextTerminated })
        {
            // The socket has ended, or its context: nobody is there to be sent anything.
        }
    }

    public async ValueTask DisposeAsync()
    {
        lock (_gate)
        {
            _isEnded = true;
            _message.Dispose();
        }

        await _later.DisposeAsync().ConfigureAwait(false);
        _socket.Dispose();
        await _notices.DisposeAsync().ConfigureAwait(false);
    }

    private void Broadcast(in RegistryLists lists)
    {
        if (lists.Own is not null)
        {
            DisconnectFullSubscribers(lists);
            Write(MessageIds.RegistrySync, lists.Sequence, lists.Own);
            _socket.TrySend(_message);
        }

        Write(MessageIds.ServiceList, lists.Sequence, lists.All);
        _socket.TrySend(_message);
        _listsSent++;
    }

    /// <summary>
    /// Half a pair misleads: a native peer would take second-hand entries for this registry's own. A subscriber whose queue cannot hold
    /// both is disconnected; it connects again and gets the present lists.
    /// </summary>
    private void DisconnectFullSubscribers(in RegistryLists lists)
    {
        if (_socket.GetStatistics().QueuedMessages == 0)
        {
            return;
        }

        const int Pair = 2;
        (int? marks, long? bytes) = (_socket.Options.SendHighWaterMark, _socket.Options.SendByteLimit);
        long needed = ServiceListWriter.ByteCount(lists.Own!) + ServiceListWriter.ByteCount(lists.All);
        if (marks < Pair || bytes < needed)
        {
            return; // No subscriber ever has capacity for the pair, so a disconnect would not help.
        }

        foreach (PeerInfo peer in _socket.GetPeers())
        {
            if ((marks != 0 && peer.Outbound.Messages + Pair > marks) || (bytes != 0 && peer.Outbound.Bytes + needed > bytes))
            {
                _socket.DisconnectPeer(peer);
                ServicesLog.SubscriberFull(_logger, _core.Id, peer.RemoteAddress, peer.Outbound.Messages);
            }
        }
    }

    private async ValueTask AnswerAsync(CancellationToken cancellationToken)
    {
        using Message notice = await _socket.ReceiveAsync(cancellationToken).ConfigureAwait(false);
        if (notice.Span is not [Subscribes, ..])
        {
            return;
        }

        lock (_gate)
        {
            if (!_isEnded)
            {
                RegistryLists lists = _core.GetLists();
                Answer(notice, MessageIds.RegistrySync, lists.Sequence, lists.Own);
                Answer(notice, MessageIds.ServiceList, lists.Sequence, lists.All);
            }
        }
    }

    private void Answer(in Message notice, ushort id, ulong sequence, ListedService[]? services)
    {
        // A topic is a prefix of the first frame, which is the id.
        if (services is not null && ((ReadOnlySpan<byte>)[(byte)id, (byte)(id >> 8)]).StartsWith(notice.Span[1..]))
        {
            Write(id, sequence, services);
            _socket.TrySendTo(notice, _message);
            _listsSent += id == MessageIds.ServiceList ? 1 : 0;
        }
    }

    private void Write(ushort id, ulong sequence, ListedService[] services)
    {
        _message.Clear(); // A send that was not accepted leaves it as it was.
        ServiceListWriter.Write(_message, new ServiceListHeader(id, _core.Id, sequence, (uint)services.Length), services);
    }
}

/// <summary>
/// Decides when a registry sends its list to everybody: at once after a change, changes that follow closely together, and now and then
/// without one. The first list need not be sent.
/// </summary>
internal sealed class BroadcastSchedule(TimeSpan minInterval, TimeSpan interval, ulong sequence, TimeSpan now)
{
    private ulong _sent = sequence;
    private TimeSpan _last = now;
    private bool _hasSent;

    public bool HasChanged(ulong current) => current != _sent;

    public TimeSpan DueAt(ulong current) => !HasChanged(current) ? _last + interval : _hasSent ? _last + minInterval : TimeSpan.Zero;

    public void Sent(TimeSpan at, ulong current) => (_sent, _last, _hasSent) = (current, at, true);
}
