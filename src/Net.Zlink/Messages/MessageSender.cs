using System.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Protocol;
using Net.Zlink.Sockets;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Sockets.Zmp;

namespace Net.Zlink;

/// <summary>
/// A field of its socket: as an object it would cost a thread that sends on a thousand sockets one more cache miss a message.
/// </summary>
internal readonly struct MessageSender
{
    private readonly SocketCore _core;
    private readonly ZmpEndpoints _endpoints;
    private readonly ZmpSocketOptions _options;
    private readonly SendWaits _waits;

    public MessageSender(ZmpEndpoints endpoints, ZmpSocketOptions options)
    {
        SocketCore core = endpoints.Socket;
        _core = core;
        _endpoints = endpoints;
        _options = options;
        _waits = new SendWaits(core, (status, _) => ErrorOf(status, core));
    }

    public bool Conflates => _options.IsConflating;

    public SendResult TrySend(in SendTarget target, ReadOnlySpan<byte> payload)
    {
        CheckLength(payload.Length);
        var message = new OutgoingMessage(payload);
        return ToResult(_core.TrySend(target, message));
    }

    public SendResult TrySend(in SendTarget target, MessageBuilder message) =>
        ToResult(_core.TrySend(target, new OutgoingMessage(Checked(message))));

    /// <summary>Several parts on a conflating socket are a result, not an exception, because a peer may have sent them.</summary>
    public SendResult TrySend(in SendTarget target, in Message message)
    {
        if (!CanTake(message.PartCount))
        {
            return SendFailure.TooManyParts;
        }

        SendResult result = ToResult(_core.TrySend(target, message.Defer().AsOutgoing()));
        if (result)
        {
            message.Dispose();
        }

        return result;
    }

    /// <summary><paramref name="timeout"/>: null: the option, which is read only before a wait.</summary>
    public void Send(in SendTarget target, ReadOnlySpan<byte> payload, TimeSpan? timeout)
    {
        CheckLength(payload.Length);
        var message = new OutgoingMessage(payload); // Constructed in place: see OutgoingMessage.
        SendStatus status = _core.TrySend(target, message);
        if (MayWait(status, timeout, out TimeSpan limit))
        {
            status = _waits.Block(target, payload, limit);
        }

        ThrowUnlessSent(status);
    }

    public void Send(in SendTarget target, MessageBuilder message, TimeSpan? timeout) =>
        SendDeferred(target, new DeferredMessage(Checked(message)), timeout);

    public void Send(in SendTarget target, in Message message, TimeSpan? timeout)
    {
        SendDeferred(target, Deferred(message), timeout);
        message.Dispose();
    }

    public ValueTask SendAsync(in SendTarget target, ReadOnlyMemory<byte> payload, CancellationToken cancellation)
    {
        CheckLength(payload.Length);
        return SendDeferredAsync(target, new DeferredMessage(payload, owner: null), default, cancellation);
    }

    /// <summary>If the send fails, it still belongs to the caller.</summary>
    public ValueTask SendAsync(in SendTarget target, IMemoryOwner<byte> payload, int length, CancellationToken cancellation)
    {
        CheckLength(length);
        var message = new DeferredMessage(payload.Memory[..length], payload);
        return SendDeferredAsync(target, message, default, cancellation);
    }

    public ValueTask SendAsync(in SendTarget target, MessageBuilder message, CancellationToken cancellation) =>
        SendDeferredAsync(target, new DeferredMessage(Checked(message)), default, cancellation);

    public ValueTask SendAsync(in SendTarget target, in Message message, CancellationToken cancellation) =>
        SendDeferredAsync(target, Deferred(message), message, cancellation);

    private SendResult ToResult(SendStatus status) => status switch
    {
        SendStatus.Accepted or SendStatus.Dropped => SendFailure.None,
        SendStatus.Full => SendFailure.Full,
        SendStatus.Unroutable => SendFailure.NoPeer,
        SendStatus.NoMemory => SendFailure.NoMemory,
        _ => throw ErrorOf(status, _core),
    };

    private static Exception ErrorOf(SendStatus status, SocketCore core) => status switch
    {
        SendStatus.Full => new TimeoutException(
            "no peer had capacity in time: none is connected, or each is at SendHighWaterMark or SendByteLimit, or all queues together at "
            + "the context's QueuedByteLimit, because peers read slower than this side sends; Describe() shows which"),
        SendStatus.Unroutable => new ZlinkException(
            ZlinkError.HostUnreachable,
            "no peer has that routing id: it has not connected yet, or has disconnected; GetPeers() lists the connected peers"),
        SendStatus.NoMemory => ZlinkException.NoMemory(),
        _ => core.End.Error(),
    };

    private static void CheckLength(int length)
    {
        if (length > FrameFormat.LargestBody)
        {
            throw new ArgumentException($"A part holds at most {FrameFormat.LargestBody} bytes.", nameof(length));
        }
    }

    private EncodedMessage Checked(MessageBuilder message)
    {
        ArgumentNullException.ThrowIfNull(message);
        EncodedMessage encoded = message.Encoded;
        if (encoded.Parts == 0)
        {
            throw new ArgumentException("A message needs at least one part: add one.", nameof(message));
        }

        CheckConflates(encoded.Parts, nameof(message));
        return encoded;
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
            throw new ArgumentException("With Conflate a message must have one part, because parts of different messages cannot be mixed.",
                message);
        }
    }

    private bool CanTake(int parts) => parts <= 1 || !_options.IsConflating;

    private void SendDeferred(in SendTarget target, in DeferredMessage message, TimeSpan? timeout)
    {
        SendStatus status = _core.TrySend(target, message.AsOutgoing());
        if (MayWait(status, timeout, out TimeSpan limit))
        {
            status = _waits.Block(target, message, limit);
        }

        ThrowUnlessSent(status);
    }

    private void ThrowUnlessSent(SendStatus status)
    {
        if (status is not (SendStatus.Accepted or SendStatus.Dropped))
        {
            throw status == SendStatus.Full && TimeoutHint.Find(_endpoints) is { } reason
                ? new TimeoutException($"no peer had capacity in time{reason}") : ErrorOf(status, _core);
        }
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

    private ValueTask SendDeferredAsync(
        in SendTarget target, in DeferredMessage message, in Message forwarded, CancellationToken cancellation)
    {
        if (cancellation.IsCancellationRequested)
        {
            return ValueTask.FromCanceled(cancellation);
        }

        SendStatus status = _core.TrySend(target, message.AsOutgoing());
        if (status == SendStatus.Full)
        {
            return _waits.WaitAsync(target, message, peerId: 0, forwarded, cancellation);
        }

        ThrowUnlessSent(status);
        forwarded.Dispose();
        return default;
    }
}
