namespace Net.Zlink.Services;

/// <summary>One message that a receiver got from a gateway: a request that expects a reply, or a plain message. A lease on pooled memory:
/// dispose it when it is no longer needed.</summary>
/// <remarks>
/// Copies of this struct are the same request: the first Dispose ends all of them, and reading afterwards throws. Reply before Dispose.
/// A request may be used on any thread, but only on one at a time.
/// </remarks>
public readonly struct ServiceRequest : IDisposable
{
    private readonly ReceiverRequests? _requests;
    private readonly OpenRequest? _open;
    private readonly int _generation;
    private readonly int _skippedParts;

    internal ServiceRequest(ReceiverRequests requests, in Message message, OpenRequest? open, int generation, int skippedParts)
    {
        _requests = requests;
        _open = open;
        _generation = generation;
        _skippedParts = skippedParts;
        Message = message;
    }

    /// <summary>The received message, whose first part may be the envelope. Owned by this request.</summary>
    public Message Message { get; }

    /// <summary>How many parts the application of the gateway sent.</summary>
    /// <exception cref="ObjectDisposedException">The request was disposed.</exception>
    public int PartCount => Message.PartCount - _skippedParts;

    /// <summary>One part, without the envelope. Valid until Dispose.</summary>
    /// <param name="index">From 0 on.</param>
    /// <exception cref="ArgumentOutOfRangeException">There is no such part.</exception>
    /// <exception cref="ObjectDisposedException">The request was disposed.</exception>
    public ReadOnlyMemory<byte> this[int index]
    {
        get
        {
            ArgumentOutOfRangeException.ThrowIfNegative(index);
            return Message[index + _skippedParts];
        }
    }

    /// <summary>The first part; empty if there is none. Valid until Dispose.</summary>
    /// <exception cref="ObjectDisposedException">The request was disposed.</exception>
    public ReadOnlyMemory<byte> Memory => PartCount > 0 ? this[0] : default;

    /// <summary>The first part; empty if there is none. Valid until Dispose.</summary>
    /// <exception cref="ObjectDisposedException">The request was disposed.</exception>
    public ReadOnlySpan<byte> Span => Memory.Span;

    /// <summary>The routing id of the gateway's socket. Valid until Dispose.</summary>
    /// <exception cref="ObjectDisposedException">The request was disposed.</exception>
    public RoutingId GatewayId => Message.RoutingId;

    /// <summary>Whether the gateway waits for a reply: it used <c>RequestAsync</c>. A plain message can be answered, too, and its gateway
    /// receives that as a message.</summary>
    public bool ExpectsReply => _open is not null;

    /// <summary>The name of the requested service; empty if the message has none, as in plain messages.</summary>
    /// <exception cref="ObjectDisposedException">The request was disposed.</exception>
    public string Service => _open is not null && RequestEnvelope.TryRead(Message.Span, out RequestEnvelope envelope)
        ? System.Text.Encoding.UTF8.GetString(envelope.Service) : "";

    /// <summary>The time until the gateway stops waiting, never below zero; null if the message has none.</summary>
    public TimeSpan? TimeLeft
    {
        get
        {
            if (_open is null || _open.Deadline == long.MaxValue)
            {
                return null;
            }

            TimeSpan left = _requests!.Clock.GetElapsedTime(_requests.Clock.GetTimestamp(), _open.Deadline);
            return left < TimeSpan.Zero ? TimeSpan.Zero : left;
        }
    }

    /// <summary>Cancelled when the gateway no longer waits, when the request times out, and when the loop that serves it
    /// is stopped. Of a plain message: never. Not to be used after Dispose.</summary>
    /// <remarks>Costs nothing until it is read; the source behind it is used again by a later request.</remarks>
    public CancellationToken CancellationToken => _open?.TokenOf(_generation) ?? CancellationToken.None;

    internal ulong Id => _open?.Id ?? 0;

    /// <summary>As <see cref="Service"/>, in UTF-8.</summary>
    internal ReadOnlySpan<byte> ServiceBytes =>
        _open is not null && RequestEnvelope.TryRead(Message.Span, out RequestEnvelope envelope) ? envelope.Service : default;

    /// <summary>Whether the gateway, the clock or the loop has ended it.</summary>
    internal bool IsCancelled => _open is { IsCancelled: true };

    internal bool IsExpired => _open is not null && _open.Deadline != long.MaxValue && _open.Deadline <= _requests!.Clock.GetTimestamp();

    /// <summary>An empty message of one part, which a peer with ProbeRouter sends first.</summary>
    internal bool IsProbe => _open is null && Message.PartCount == 1 && Message.Span.IsEmpty;

    /// <summary>Sends a reply of one part, without waiting.</summary>
    /// <param name="payload">The reply; copied.</param>
    /// <returns>True if it was accepted. NoPeer: the gateway's connection has ended, or the request has already been answered. Full: the
    /// connection is full.</returns>
    /// <exception cref="InvalidOperationException">This request was not received: it is the default value of its struct.</exception>
    /// <exception cref="ObjectDisposedException">The request was disposed, or the receiver was.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public SendResult TryReply(ReadOnlySpan<byte> payload) => TryAnswer(Begin(Answers.Empty(), payload).Add(payload));

    /// <inheritdoc cref="TryReply(ReadOnlySpan{byte})"/>
    /// <summary>Sends the reply, of any number of parts, if it need not wait.</summary>
    /// <param name="message">The reply; empty when it was accepted. A plain message is answered with at least one part.</param>
    /// <exception cref="ArgumentException">A plain message would be answered with no part at all.</exception>
    public SendResult TryReply(MessageBuilder message) => TryReply(new MessageForm(message));

    /// <inheritdoc cref="TryReply(ReadOnlySpan{byte})"/>
    /// <summary>Sends the parts of a received message as the reply, if it need not wait.</summary>
    /// <param name="message">The reply; copied, and ended when it was accepted.</param>
    public SendResult TryReply(in Message message) => TryReply(new MessageForm(message));

    /// <summary>Sends a reply of one part; waits while the connection is full.</summary>
    /// <param name="payload">The reply; unchanged until the task completes.</param>
    /// <param name="cancellationToken">Ends the wait; nothing is sent then.</param>
    /// <returns>Complete when the reply was accepted. The request must not be disposed before.</returns>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="InvalidOperationException">This request was not received: it is the default value of its struct.</exception>
    /// <exception cref="ObjectDisposedException">The request was disposed, or the receiver was.</exception>
    /// <exception cref="ZlinkException">HostUnreachable: the gateway's connection has ended, or the request has already been answered.
    /// ContextTerminated.</exception>
    public ValueTask ReplyAsync(ReadOnlyMemory<byte> payload, CancellationToken cancellationToken = default) =>
        ReplyAsync(new MessageForm(payload), cancellationToken);

    /// <inheritdoc cref="ReplyAsync(ReadOnlyMemory{byte}, CancellationToken)"/>
    /// <summary>Sends the reply, of any number of parts, waiting for capacity if need be.</summary>
    /// <param name="message">The reply; not to be touched until the task completes, and empty then. A plain message is answered with at
    /// least one part.</param>
    /// <param name="cancellationToken">Ends the wait; nothing is sent then.</param>
    /// <exception cref="ArgumentException">A plain message would be answered with no part at all.</exception>
    public ValueTask ReplyAsync(MessageBuilder message, CancellationToken cancellationToken = default) =>
        ReplyAsync(new MessageForm(message), cancellationToken);

    /// <inheritdoc cref="ReplyAsync(ReadOnlyMemory{byte}, CancellationToken)"/>
    /// <summary>Sends the parts of a received message as the reply, waiting for capacity if need be.</summary>
    /// <param name="message">The reply; copied, and ended when it was accepted.</param>
    /// <param name="cancellationToken">Ends the wait; nothing is sent then.</param>
    public ValueTask ReplyAsync(in Message message, CancellationToken cancellationToken = default) =>
        ReplyAsync(new MessageForm(message), cancellationToken);

    /// <summary>Reports that the request was executed and failed. The gateway does not send it elsewhere.</summary>
    /// <param name="code">A number for the caller of the gateway; those of applications begin at 256.</param>
    /// <param name="text">An explanation for the log of the caller.</param>
    /// <returns>False: the connection has ended or is full, the request has already been answered, or nobody waits for one.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="text"/> is null.</exception>
    /// <exception cref="ObjectDisposedException">The request was disposed, or the receiver was.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public bool TryFail(ushort code, string text) => TryAnswer(EnvelopeKind.Failed, code, text);

    /// <summary>Reports that the request was not executed. The gateway sends it to another receiver.</summary>
    /// <inheritdoc cref="TryFail"/>
    public bool TryRefuse(ushort code, string text) => TryAnswer(EnvelopeKind.Refused, code, text);

    /// <summary>Ends the request and returns its memory. Idempotent. A request without an answer is reported as failed, because it may
    /// have been executed: <see cref="TryRefuse"/> says that it was not.</summary>
    public void Dispose()
    {
        if (_open is not null)
        {
            if (TryTakeAnswer())
            {
                _requests!.FailUnanswered(this, _open);
            }

            _requests!.Open.Remove(_open, _generation);
            _requests.NoteActivity();
        }

        Message.Dispose();
    }

    /// <summary>Acquires the right to answer; false also if the request has ended.</summary>
    internal bool TryTakeAnswer() => _open?.TryAnswer(_generation) == true;

    internal ReceiverRequests Requests => _requests ??
        throw new InvalidOperationException("This request was not received: it is the default value of its struct.");

    /// <summary>The answer to a plain message has an envelope only if its first part could be mistaken for one.</summary>
    private MessageBuilder Begin(MessageBuilder reply, ReadOnlySpan<byte> firstPart) =>
        _open is not null
            ? reply.AddEnvelope(new RequestEnvelope { Kind = EnvelopeKind.Reply, Flags = Requests.Flags, Id = _open.Id })
            : RequestEnvelope.HasMagic(firstPart) ? reply.AddEnvelope(new RequestEnvelope { Kind = EnvelopeKind.Plain }) : reply;

    private SendResult TryReply(in MessageForm message)
    {
        SendResult result = TryAnswer(message.CopyTo(Begin(Answers.Empty(), message.FirstPart)));
        if (result)
        {
            message.Complete();
        }

        return result;
    }

    private ValueTask ReplyAsync(in MessageForm message, CancellationToken cancellationToken) => TryReply(message).Reason switch
    {
        SendFailure.None => ValueTask.CompletedTask,
        SendFailure.NoPeer => ValueTask.FromException(NotAwaited()),
        _ => ReplyLaterAsync(message, cancellationToken),
    };

    private async ValueTask ReplyLaterAsync(MessageForm message, CancellationToken cancellationToken)
    {
        if (_open is not null && !TakeAnswer())
        {
            throw NotAwaited();
        }

        SendResult result = default;
        using var reply = new MessageBuilder();
        try
        {
            await Requests.Socket.To(Message).SendAsync(message.CopyTo(Begin(reply, message.FirstPart)), cancellationToken)
                .ConfigureAwait(false);
            result = SendResult.Sent;
            message.Complete();
        }
        finally
        {
            if (_open is not null)
            {
                Ended(result, ref Requests.Counters.Replies);
            }
        }
    }

    private static ZlinkException NotAwaited() =>
        new(ZlinkError.HostUnreachable, "the gateway's connection has ended, or the request has already been answered");

    private SendResult TryAnswer(MessageBuilder reply) =>
        _open is null ? Answers.TrySend(Requests, Message, reply)
            : !TakeAnswer() ? SendFailure.NoPeer
            : Ended(Answers.TrySend(Requests, Message, reply), ref Requests.Counters.Replies);

    private bool TryAnswer(EnvelopeKind kind, ushort code, string text)
    {
        ArgumentNullException.ThrowIfNull(text);
        ReceiverRequests requests = Requests;
        var envelope = new RequestEnvelope { Kind = kind, Flags = requests.Flags, Code = code, Id = Id };
        return _open is not null && TakeAnswer()
            && Ended(
                Answers.TrySend(requests, Message, envelope, text),
                ref kind == EnvelopeKind.Failed ? ref requests.Counters.Failed : ref requests.Counters.Refused);
    }

    /// <summary>As <see cref="TryTakeAnswer"/>, but a request that was disposed is a mistake of the caller.</summary>
    private bool TakeAnswer() => _open!.TryAnswer(_generation) ?? throw new ObjectDisposedException(nameof(ServiceRequest));

    private SendResult Ended(SendResult result, ref long counter)
    {
        if (result)
        {
            Interlocked.Increment(ref counter);
        }
        else
        {
            _open!.UndoAnswer(_generation);
        }

        return result;
    }
}
