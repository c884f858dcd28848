using System.Buffers;
using System.Threading.Tasks.Sources;
using Net.Zlink.Engine;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets;
using Net.Zlink.Sockets.Links;

namespace Net.Zlink;

/// <summary>
/// A field of its socket: as an object it would cost a thread that sends on a thousand sockets one more cache miss a message.
/// </summary>
internal readonly struct MessageSender
{
    private readonly SocketCore _core;
    private readonly ZmpSocketOptions _options;
    private readonly WaiterPool<SendReceipt> _waiters;
    private readonly Action<Waiter<SendStatus>> _recycle;

    public MessageSender(SocketCore core, ZmpSocketOptions options)
    {
        var waiters = new WaiterPool<SendReceipt>();
        _core = core;
        _options = options;
        _waiters = waiters;
        _recycle = waiter => waiters.Return((SendReceipt)waiter);
    }

    public bool Conflates => _options.IsConflating;

    public ZlinkError TrySend(ReadOnlySpan<byte> routeId, ReadOnlySpan<byte> payload)
    {
        var message = new OutgoingMessage(HeaderOf(payload.Length), payload);
        return ToError(_core.TrySend(routeId, message));
    }

    public ZlinkError TrySend(ReadOnlySpan<byte> routeId, MessageBuilder message) =>
        ToError(_core.TrySend(routeId, new OutgoingMessage(Checked(message))));

    public static bool TrySendTo(PeerLink peer, ReadOnlySpan<byte> payload)
    {
        var message = new OutgoingMessage(HeaderOf(payload.Length), payload);
        return peer.TrySend(message) == SendStatus.Accepted;
    }

    public bool TrySendTo(PeerLink peer, MessageBuilder message) =>
        peer.TrySend(new OutgoingMessage(Checked(message))) == SendStatus.Accepted;

    public bool TrySendTo(PeerLink peer, in Message message)
    {
        if (peer.TrySend(Deferred(message).AsOutgoing()) != SendStatus.Accepted)
        {
            return false;
        }

        message.Dispose();
        return true;
    }

    public ZlinkError TrySendTo(PeerSlot connection, ReadOnlySpan<byte> payload)
    {
        var message = new OutgoingMessage(HeaderOf(payload.Length), payload);
        return ToError(_core.TrySendTo(connection, message));
    }

    public ZlinkError TrySendTo(PeerSlot connection, MessageBuilder message) =>
        ToError(_core.TrySendTo(connection, new OutgoingMessage(Checked(message))));

    public ZlinkError TrySendTo(PeerSlot connection, in Message message)
    {
        ZlinkError error = ToError(_core.TrySendTo(connection, Deferred(message).AsOutgoing()));
        if (error == ZlinkError.None)
        {
            message.Dispose();
        }

        return error;
    }

    public ValueTask SendToAsync(PeerSlot connection, ReadOnlyMemory<byte> payload, CancellationToken cancellation)
    {
        Protocol.FrameHeader header = HeaderOf(payload.Length);
        return SendDeferredAsync(default, new DeferredMessage(header, payload, owner: null), default, cancellation, connection);
    }

    public ValueTask SendToAsync(PeerSlot connection, MessageBuilder message, CancellationToken cancellation) =>
        SendDeferredAsync(default, new DeferredMessage(Checked(message)), default, cancellation, connection);

    public ValueTask SendToAsync(PeerSlot connection, in Message message, CancellationToken cancellation) =>
        SendDeferredAsync(default, Deferred(message), message, cancellation, connection);

    public ZlinkError TrySend(ReadOnlySpan<byte> routeId, in Message message)
    {
        CheckConflates(message.PartCount, nameof(message));
        return TrySendUnchecked(routeId, message);
    }

    /// <summary>Several parts on a conflating socket are InvalidArgument, not an exception, because a peer may have sent them.</summary>
    public ZlinkError TryPassOn(ReadOnlySpan<byte> routeId, in Message message) => CanTake(message.PartCount)
        ? TrySendUnchecked(routeId, message) : ZlinkError.InvalidArgument;

    public ZlinkError TryPassOn(ReadOnlySpan<byte> routeId, MessageBuilder message) =>
        CanTake(message.Count) ? ToError(_core.TrySend(routeId, new OutgoingMessage(message.Encoded))) : ZlinkError.InvalidArgument;

    private ZlinkError TrySendUnchecked(ReadOnlySpan<byte> routeId, in Message message)
    {
        ZlinkError error = ToError(_core.TrySend(routeId, message.Defer().AsOutgoing()));
        if (error == ZlinkError.None)
        {
            message.Dispose();
        }

        return error;
    }

    /// <summary><paramref name="timeout"/>: null: the option, which is read only before a wait.</summary>
    public void Send(ReadOnlySpan<byte> routeId, ReadOnlySpan<byte> payload, TimeSpan? timeout = null)
    {
        Protocol.FrameHeader header = HeaderOf(payload.Length);
        var message = new OutgoingMessage(header, payload); // Constructed in place: see OutgoingMessage.
        SendStatus status = _core.TrySend(routeId, message);
        if (MayWait(status, timeout, out TimeSpan limit))
        {
            // A span cannot be kept during a wait, so the rare send that waits copies its payload once more.
            using IMemoryOwner<byte> copy = WaitingPayload.Of(payload, _core.Host.Pool);
            status = Block(routeId, new DeferredMessage(header, copy.Memory[..payload.Length], owner: null), limit);
        }

        ThrowUnlessSent(status);
    }

    public void Send(ReadOnlySpan<byte> routeId, MessageBuilder message, TimeSpan? timeout = null) =>
        SendDeferred(routeId, new DeferredMessage(Checked(message)), timeout);

    public void Send(ReadOnlySpan<byte> routeId, in Message message, TimeSpan? timeout = null)
    {
        SendDeferred(routeId, Deferred(message), timeout);
        message.Dispose();
    }

    /// <summary>How many were accepted, from the first on.</summary>
    public int SendMany(ReadOnlySpan<byte> routeId, ReadOnlySpan<Message> messages, out ZlinkError error)
    {
        error = ZlinkError.None;
        int sent = 0;
        try
        {
            while (sent < messages.Length && (error = TrySend(routeId, in Some(messages, sent))) == ZlinkError.None)
            {
                sent++;
            }
        }
        catch (ZlinkException ended) when (sent > 0)
        {
            error = ended.Error; // The number of accepted messages must be returned; the next call throws.
        }

        return sent;
    }

    public int SendMany(ReadOnlySpan<byte> routeId, ReadOnlySpan<ReadOnlyMemory<byte>> payloads, out ZlinkError error)
    {
        error = ZlinkError.None;
        int sent = 0;
        try
        {
            // Where nothing can be sent at once, the way of a single message has the reason, or finds a peer.
            while (sent < payloads.Length)
            {
                int run = _core.TrySendMany(routeId, payloads[sent..]);
                if (run == 0 && (error = TrySend(routeId, payloads[sent].Span)) != ZlinkError.None)
                {
                    break;
                }

                sent += Math.Max(run, 1);
            }
        }
        catch (ZlinkException ended) when (sent > 0)
        {
            error = ended.Error;
        }

        return sent;
    }

    public ValueTask SendAsync(ReadOnlySpan<byte> routeId, ReadOnlyMemory<byte> payload, CancellationToken cancellation)
    {
        Protocol.FrameHeader header = HeaderOf(payload.Length);
        return SendDeferredAsync(routeId, new DeferredMessage(header, payload, owner: null), default, cancellation);
    }

    /// <summary>If the send fails, it still belongs to the caller.</summary>
    public ValueTask SendAsync(ReadOnlySpan<byte> routeId, IMemoryOwner<byte> payload, int length, CancellationToken cancellation)
    {
        ArgumentNullException.ThrowIfNull(payload);
        ArgumentOutOfRangeException.ThrowIfNegative(length);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(length, payload.Memory.Length);
        Protocol.FrameHeader header = HeaderOf(length);
        return SendDeferredAsync(routeId, new DeferredMessage(header, payload.Memory[..length], payload), default, cancellation);
    }

    public ValueTask SendAsync(ReadOnlySpan<byte> routeId, MessageBuilder message, CancellationToken cancellation) =>
        SendDeferredAsync(routeId, new DeferredMessage(Checked(message)), default, cancellation);

    public ValueTask SendAsync(ReadOnlySpan<byte> routeId, in Message message, CancellationToken cancellation) =>
        SendDeferredAsync(routeId, Deferred(message), message, cancellation);

    public ValueTask<int> SendManyAsync(ReadOnlyMemory<byte> routeId, ReadOnlyMemory<Message> messages, CancellationToken cancellation) =>
        SendBatch.SendAllAsync(new MessageBatch(this, routeId, messages), cancellation);

    public ValueTask<int> SendManyAsync(ReadOnlyMemory<byte> routeId, ReadOnlyMemory<ReadOnlyMemory<byte>> payloads,
        CancellationToken cancellation) =>
        SendBatch.SendAllAsync(new PayloadBatch(this, routeId, payloads), cancellation);

    private ZlinkError ToError(SendStatus status) => status switch
    {
        SendStatus.Accepted or SendStatus.Dropped => ZlinkError.None,
        SendStatus.Full => ZlinkError.Again,
        SendStatus.Unroutable => ZlinkError.HostUnreachable,
        SendStatus.NoMemory => ZlinkError.NoMemory,
        _ => throw ErrorOf(status, _core),
    };

    private static void ThrowUnlessAccepted(SendStatus status, SocketCore core)
    {
        if (status is not (SendStatus.Accepted or SendStatus.Dropped))
        {
            throw ErrorOf(status, core);
        }
    }

    private static Exception ErrorOf(SendStatus status, SocketCore core) => status switch
    {
        SendStatus.Full => new TimeoutException(
            "no peer had room in time: none is connected, or each is at SendHighWaterMark or SendByteLimit, or all queues together at "
            + "the context's QueuedByteLimit, and reads slower than this side sends; Describe() shows which"),
        SendStatus.Unroutable => new ZlinkException(
            ZlinkError.HostUnreachable,
            "no peer has that routing id: it has not connected yet, or has left; GetPeers() lists those there are"),
        SendStatus.NoMemory => ZlinkException.NoMemory(),
        _ => core.End.Error(),
    };

    private static Protocol.FrameHeader HeaderOf(int length) => length <= ZmpFrame.LargestBody
        ? ZmpFrame.HeaderOf(ZmpFlags.None, (uint)length)
        : throw new ArgumentException($"A part holds at most {ZmpFrame.LargestBody} bytes.", nameof(length));

    private EncodedMessage Checked(MessageBuilder message)
    {
        ArgumentNullException.ThrowIfNull(message);
        EncodedMessage encoded = message.Encoded;
        if (encoded.Parts == 0)
        {
            throw new ArgumentException("A message has at least one part: add one.", nameof(message));
        }

        CheckConflates(encoded.Parts, nameof(message));
        return encoded;
    }

    private static ref readonly Message Some(ReadOnlySpan<Message> messages, int index)
    {
        if (messages[index].IsNothing)
        {
            throw new InvalidOperationException(
                $"messages[{index}] holds no message, it was never received; the {index} before it were sent. Pass only what ReceiveMany "
                + $"filled, such as batch.AsMemory(0, count).");
        }

        return ref messages[index];
    }

    private DeferredMessage Deferred(in Message message)
    {
        CheckConflates(message.PartCount, nameof(message));
        return message.Defer();
    }

    private void CheckConflates(int parts, string message)
    {
        if (!CanTake(parts))
        {
            throw new ArgumentException("With Conflate a message has one part: which parts are newest could not be told.", message);
        }
    }

    private bool CanTake(int parts) => parts <= 1 || !_options.IsConflating;

    private void SendDeferred(ReadOnlySpan<byte> routeId, in DeferredMessage message, TimeSpan? timeout)
    {
        SendStatus status = _core.TrySend(routeId, message.AsOutgoing());
        if (MayWait(status, timeout, out TimeSpan limit))
        {
            status = Block(routeId, message, limit);
        }

        ThrowUnlessSent(status);
    }

    private void ThrowUnlessSent(SendStatus status)
    {
        if (status == SendStatus.Full && TimeoutHint.Find(_core) is { } reason)
        {
            throw new TimeoutException($"no peer had room in time{reason}");
        }

        ThrowUnlessAccepted(status, _core);
    }

    private bool MayWait(SendStatus status, TimeSpan? timeout, out TimeSpan limit)
    {
        limit = default;
        if (status != SendStatus.Full)
        {
            return false;
        }

        limit = timeout ?? _options.SendTimeout;
        if (limit == TimeSpan.Zero)
        {
            return false;
        }

        BlockingWait.ThrowIfOnShard(nameof(SendAsync));
        return true;
    }

    private SendStatus Block(ReadOnlySpan<byte> routeId, in DeferredMessage message, TimeSpan limit)
    {
        SendReceipt waiter = _waiters.Rent();
        waiter.Prepare(_core.BlockedSends, _recycle, blocking: true);
        waiter.Deferred = message;
        waiter.SetRoute(routeId);
        SendStatus status = _core.BlockedSends.Enqueue(waiter);
        if (status != SendStatus.Full)
        {
            _waiters.Return(waiter);
            return status;
        }

        CallerFlush.RunBeforeBlocking();
        return BlockingWait.Until(waiter, _core.BlockedSends, limit) ? waiter.GetResult(waiter.Version) : SendStatus.Full;
    }

    private ValueTask SendDeferredAsync(ReadOnlySpan<byte> routeId, in DeferredMessage message, in Message forwarded,
        CancellationToken cancellation, PeerSlot? connection = null)
    {
        if (cancellation.IsCancellationRequested)
        {
            return ValueTask.FromCanceled(cancellation);
        }

        SendStatus status = connection is null ? _core.TrySend(routeId, message.AsOutgoing())
            : _core.TrySendTo(connection, message.AsOutgoing());
        if (status == SendStatus.Full)
        {
            SendReceipt waiter = _waiters.Rent();
            waiter.Prepare(_core.BlockedSends, _recycle, blocking: false);
            waiter.Core = _core;
            waiter.Deferred = message;
            waiter.Forwarded = forwarded;
            waiter.SetRoute(routeId);
            waiter.Connection = connection;
            status = _core.BlockedSends.Enqueue(waiter);
            if (status == SendStatus.Full)
            {
                waiter.CancelWith(cancellation);
                return new ValueTask(waiter, waiter.Version);
            }

            waiter.Discard();
            _waiters.Return(waiter);
        }

        ThrowUnlessAccepted(status, _core);
        forwarded.Dispose();
        return default;
    }

    private readonly struct MessageBatch(MessageSender sender, ReadOnlyMemory<byte> routeId, ReadOnlyMemory<Message> messages) : ISendBatch
    {
        public int Count => messages.Length;

        public int SendSome(int from) => sender.SendMany(routeId.Span, messages.Span[from..], out _);

        public ValueTask SendAsync(int index, CancellationToken cancellation) =>
            sender.SendAsync(routeId.Span, in Some(messages.Span, index), cancellation);

        public void OnSent(int index)
        {
            // The send has ended it.
        }
    }

    private readonly struct PayloadBatch(MessageSender sender, ReadOnlyMemory<byte> routeId,
        ReadOnlyMemory<ReadOnlyMemory<byte>> payloads) : ISendBatch
    {
        public int Count => payloads.Length;

        public int SendSome(int from) => sender.SendMany(routeId.Span, payloads.Span[from..], out _);

        public ValueTask SendAsync(int index, CancellationToken cancellation) =>
            sender.SendAsync(routeId.Span, payloads.Span[index], cancellation);

        public void OnSent(int index)
        {
            // The send took no ownership.
        }
    }

    private sealed class SendReceipt : RoutedSendWaiter, IValueTaskSource
    {
        public SocketCore? Core { get; set; }

        public Message Forwarded { get; set; }

        public void Discard() => Clear();

        void IValueTaskSource.GetResult(short token)
        {
            Message forwarded = Forwarded; // Read first, as the core: the result returns the waiter for reuse.
            SocketCore core = Core!;
            SendStatus status = GetResult(token);
            ThrowUnlessAccepted(status, core);
            forwarded.Dispose();
        }

        protected override void Clear()
        {
            base.Clear();
            Forwarded = default;
        }
    }
}
