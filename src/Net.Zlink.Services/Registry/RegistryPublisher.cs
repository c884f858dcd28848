using Microsoft.Extensions.Logging;

namespace Net.Zlink.Services;

/// <summary>The XPUB socket of a registry: sends the list to everybody when it is due, and to each new subscriber alone.</summary>
internal sealed class RegistryPublisher : IAsyncDisposable
{
    private const byte Subscribes = 1;

    // A follower subscribes once in the life of a connection.
    private static readonly TimeSpan AnswerInterval = TimeSpan.FromMilliseconds(100);

    private readonly XPubSocket _socket;
    private readonly RegistryCore _core;
    private readonly BroadcastSchedule _schedule;
    private readonly long _bytesPerSecond;
    private readonly PacedAnswers _answers = new(AnswerInterval);
    private readonly ITimer _answersLater;
    private readonly MessageBuilder _message;
    private readonly ITimer _later;
    private readonly BackgroundLoop _notices;
    private readonly ILogger _logger;

    // Held while a list is encoded and sent: lists go out in the order of their numbers. The core's lock is taken inside it.
    private readonly Lock _gate = new();
    private long _listsSent;
    private bool _isEnded;

    public RegistryPublisher(ZlinkContext context, XPubSocket socket, RegistryCore core, ServiceRegistryOptions options, ILogger logger)
    {
        _socket = socket;
        _core = core;
        _logger = logger;
        _schedule = new BroadcastSchedule(options.MinBroadcastInterval, options.BroadcastInterval, core.Sequence, core.Now);
        _bytesPerSecond = options.MaxBroadcastBytesPerSecond;
        _message = new MessageBuilder(context.Pool);
        _answersLater = context.TimeProvider.CreateTimer(static state => ((RegistryPublisher)state!).AnswerDue(), this,
            Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        _later = context.TimeProvider.CreateTimer(static state => ((RegistryPublisher)state!).BroadcastIfDue(), this,
            Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        _notices = BackgroundLoop.Start("registry's subscriptions", logger, context.TimeProvider, AnswerAsync);
    }

    public long ListsSent => Interlocked.Read(ref _listsSent);

    public int Subscribers => _socket.PeerCount;

    /// <summary>Sends the list to everybody if it changed or is due; one that came too early is sent later.</summary>
    public void BroadcastIfDue() => Guarded(static publisher =>
    {
        ulong sequence = publisher._core.Sequence;
        bool isPeriodic = !publisher._schedule.HasChanged(sequence);
        TimeSpan delay = publisher._schedule.DueAt(sequence) - publisher._core.Now;
        if (delay <= TimeSpan.Zero)
        {
            RegistryLists lists = publisher._core.GetLists(renumber: isPeriodic && publisher._core.SendsPairs);
            publisher._schedule.Sent(publisher._core.Now, lists.Sequence, publisher.PaceOf(lists.ByteCount * publisher.Subscribers));
            publisher.Broadcast(lists);
        }
        else if (!isPeriodic)
        {
            publisher._later.ChangeDue(delay);
        }
    });

    public async ValueTask DisposeAsync()
    {
        lock (_gate)
        {
            _isEnded = true;
            _message.Dispose();
            _answers.Clear();
        }

        await _later.DisposeAsync().ConfigureAwait(false);
        await _answersLater.DisposeAsync().ConfigureAwait(false);
        _socket.Dispose();
        await _notices.DisposeAsync().ConfigureAwait(false);
    }

    private void Broadcast(in RegistryLists lists)
    {
        if (lists.Own is not null)
        {
            DisconnectFullSubscribers(lists);
            Write(MessageIds.RegistrySync, lists, lists.Own);
            _socket.TrySend(_message);
        }

        Write(MessageIds.ServiceList, lists, lists.All);
        _listsSent++; // A subscriber that has the list finds it counted.
        _socket.TrySend(_message);
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
        long needed = ServiceListWriter.ByteCount(lists.Own!) + ServiceListWriter.ByteCount(lists.All)
            + (Pair * lists.Removals.Length);
        if (marks < Pair || bytes < needed)
        {
            return; // No subscriber ever has capacity for the pair, so a disconnect would not help.
        }

        foreach (PeerInfo peer in _socket.GetPeers())
        {
            if ((marks != 0 && peer.Outbound.Messages + Pair > marks) || (bytes != 0 && peer.Outbound.Bytes + needed > bytes))
            {
                _socket.Disconnect(peer);
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
            if (_isEnded)
            {
                return;
            }

            if (_answers.MayAnswer(_core.Now, notice))
            {
                // A topic is a prefix of the first frame, which is the id.
                Answer(notice, notice.Span.Length > 1 ? notice.Span[1..] : []);
            }
            else if (_answers.NextAt is { } at)
            {
                _answersLater.ChangeDue(at - _core.Now);
            }
        }
    }

    private void AnswerDue() => Guarded(static publisher =>
    {
        publisher._answers.AnswerDue(publisher._core.Now, notice => publisher.Answer(notice, topic: []));
        publisher._answersLater.ChangeDue(publisher._answers.NextAt is { } at ? at - publisher._core.Now : null);
    });

    /// <summary>Runs the action under the lock, unless there is no subscriber.</summary>
    private void Guarded(Action<RegistryPublisher> action)
    {
        try
        {
            lock (_gate)
            {
                if (!_isEnded)
                {
                    action(this);
                }
            }
        }
        catch (Exception e) when (e is ObjectDisposedException or ZlinkException { Error: ZlinkError.ContextTerminated })
        {
            // The socket has ended, or its context.
        }
    }

    /// <summary>What timers measure: less than a millisecond is none.</summary>
    private TimeSpan PaceOf(long bytes) => TimeSpan.FromMilliseconds(Math.Floor(bytes * 1000.0 / _bytesPerSecond));

    private void Answer(in Message notice, ReadOnlySpan<byte> topic)
    {
        RegistryLists lists = _core.GetLists();
        Answer(notice, topic, MessageIds.RegistrySync, lists, lists.Own);
        Answer(notice, topic, MessageIds.ServiceList, lists, lists.All);
        _answers.Answered(_core.Now, notice, PaceOf(lists.ByteCount));
    }

    private void Answer(in Message notice, ReadOnlySpan<byte> topic, ushort id, in RegistryLists lists, ListedService[]? services)
    {
        if (services is not null && ((ReadOnlySpan<byte>)[(byte)id, (byte)(id >> 8)]).StartsWith(topic))
        {
            Write(id, lists, services);
            _listsSent += id == MessageIds.ServiceList ? 1 : 0;
            _socket.To(notice).TrySend(_message);
        }
    }

    private void Write(ushort id, in RegistryLists lists, ListedService[] services)
    {
        _message.Clear(); // A send that was not accepted leaves it as it was.
        ServiceListWriter.Write(_message, new ServiceListHeader(id, _core.Id, lists.Sequence, (uint)services.Length), services);
        if (lists.Removals.Length > 0)
        {
            _message.Add(lists.Removals);
        }
    }
}

/// <summary>
/// Decides when a registry sends its list to everybody: at once after a change, changes that follow closely together, and now and then
/// without one. What all followers get in a second is limited: the larger a list, the more changes share it. The first list need not be
/// sent.
/// </summary>
internal sealed class BroadcastSchedule(TimeSpan minInterval, TimeSpan interval, ulong sequence, TimeSpan now)
{
    private ulong _sent = sequence;
    private TimeSpan _last = now;
    private TimeSpan _pause;

    public bool HasChanged(ulong current) => current != _sent;

    public TimeSpan DueAt(ulong current) => _last + (HasChanged(current) || _pause > interval ? _pause : interval);

    /// <summary>A list went out, which takes so long at the rate.</summary>
    public void Sent(TimeSpan at, ulong current, TimeSpan pace = default) =>
        (_sent, _last, _pause) = (current, at, pace > minInterval ? pace : minInterval);
}
