namespace Net.Zlink.Services;

/// <summary>One message that a receiver got from a gateway: a request that expects a reply, or a plain message. A lease on pooled memory:
/// dispose it when it is done with.</summary>
/// <remarks>
/// Copies of this struct are the same request: the first Dispose ends all of them, and reading afterwards throws. Reply before Dispose.
/// A request may be handled on any thread, on one at a time.
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

    /// <summary>The message as it came, with the envelope as its first part where it has one. Owned by this request.</summary>
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

    /// <summary>The first part; empty where there is none. Valid until Dispose.</summary>
    /// <exception cref="ObjectDisposedException">The request was disposed.</exception>
    public ReadOnlyMemory<byte> Memory => PartCount > 0 ? this[0] : default;

    /// <summary>The first part; empty where there is none. Valid until Dispose.</summary>
    /// <exception cref="ObjectDisposedException">The request was disposed.</exception>
    public ReadOnlySpan<byte> Span => Memory.Span;

    /// <summary>What the gateway's socket calls itself. Valid until Dispose.</summary>
    /// <exception cref="ObjectDisposedException">The request was disposed.</exception>
    public RoutingId GatewayId => Message.RoutingId;

    /// <summary>Whether the gateway waits for a reply: it used <c>RequestAsync</c>. A plain message can be answered, too, and its gateway
    /// receives that as a message.</summary>
    public bool ExpectsReply => _open is not null;

    /// <summary>The name of the service that the gateway means; empty where it does not say, as in plain messages.</summary>
    /// <exception cref="ObjectDisposedException">The request was disposed.</exception>
    public string Service => _open is not null && RequestEnvelope.TryRead(Message.Span, out RequestEnvelope envelope)
        ? System.Text.Encoding.UTF8.GetString(envelope.Service) : "";

    /// <summary>How much time is left until the gateway stops waiting, never below zero; null where it did not say.</summary>
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

    /// <summary>Cancelled when the gateway does not wait any more, when the time of the request is over, and when the loop that serves it
    /// is stopped. Of a plain message: never. Not to be used after Dispose.</summary>
    /// <remarks>Costs nothing until it is read; the source behind it is used again by a later request.</remarks>
    public CancellationToken Cancelled => _open?.TokenOf(_generation) ?? CancellationToken.None;

    internal ulong Id => _open?.Id ?? 0;

    /// <summary>Whether the gateway, the clock or the loop has ended it.</summary>
    internal bool IsCancelled => _open is { IsCancelled: true };

    internal bool IsExpired => _open is not null && _open.Deadline != long.MaxValue && _open.Deadline <= _requests!.Clock.GetTimestamp();

    /// <summary>An empty message of one part, which a peer with ProbeRouter sends first.</summary>
    internal bool IsProbe => _open is null && Message.PartCount == 1 && Message.Span.IsEmpty;

    /// <summary>Sends the reply, of one part, if it need not wait.</summary>
    /// <param name="payload">The reply; copied.</param>
    /// <param name="error">None; HostUnreachable: the gateway's connection has ended, or the request has already been answered; Again: the
    /// connection is full.</param>
    /// <returns>True if it was accepted.</returns>
    /// <exception cref="InvalidOperationException">This request was not received: it is the default value of its struct.</exception>
    /// <exception cref="ObjectDisposedException">The request was disposed, or the receiver was.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public bool TryReply(ReadOnlySpan<byte> payload, out ZlinkError error) =>
        TryReplyWith(Begin(Answers.Empty(), payload).Add(payload), out error);

    /// <inheritdoc cref="TryReply(ReadOnlySpan{byte}, out ZlinkError)"/>
    /// <remarks>The parts are copied. A plain message is answered with at least one.</remarks>
    /// <exception cref="ArgumentException">A plain message would be answered with no part at all.</exception>
    public bool TryReply(ReadOnlySpan<ReadOnlyMemory<byte>> parts, out ZlinkError error)
    {
        MessageBuilder reply = Begin(Answers.Empty(), parts.IsEmpty ? default : parts[0].Span);
        foreach (ReadOnlyMemory<byte> part in parts)
        {
            reply.Add(part.Span);
        }

        return TryReplyWith(reply, out error);
    }

    /// <inheritdoc cref="TryReply(ReadOnlySpan{byte}, out ZlinkError)"/>
    /// <remarks>The message is empty when the reply was accepted. A plain message is answered with at least one part.</remarks>
    /// <exception cref="ArgumentException">A plain message would be answered with no part at all.</exception>
    public bool TryReply(MessageBuilder message, out ZlinkError error)
    {
        ArgumentNullException.ThrowIfNull(message);
        bool isSent = TryReplyWith(
            Begin(Answers.Empty(), message.Count == 0 ? default : message[0]).AddParts(message), out error);
        if (isSent)
        {
            message.Clear();
        }

        return isSent;
    }

    /// <summary>Sends the reply, of one part, waiting for capacity if need be.</summary>
    /// <param name="payload">The reply; unchanged until the task completes.</param>
    /// <param name="cancellationToken">Ends the wait; nothing is sent then.</param>
    /// <returns>Complete when the reply was accepted. The request must not be disposed before.</returns>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="InvalidOperationException">This request was not received: it is the default value of its struct.</exception>
    /// <exception cref="ObjectDisposedException">The request was disposed, or the receiver was.</exception>
    /// <exception cref="ZlinkException">HostUnreachable: the gateway's connection has ended, or the request has already been answered.
    /// ContextTerminated.</exception>
    public ValueTask ReplyAsync(ReadOnlyMemory<byte> payload, CancellationToken cancellationToken = default) =>
        TryReply(payload.Span, out ZlinkError error) ? ValueTask.CompletedTask
            : error == ZlinkError.Again ? ReplyLaterAsync(payload, cancellationToken)
            : ValueTask.FromException(new ZlinkException(
                error, "the gateway's connection has ended, or the request has already been answered"));

    /// <summary>Reports that the request was executed and failed. The gateway does not send it elsewhere.</summary>
    /// <param name="code">A number for the caller of the gateway; those of applications begin at 256.</param>
    /// <param name="text">An explanation for the log of the caller.</param>
    /// <returns>False: the connection has ended or is full, the request has its answer already, or nobody waits for one.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="text"/> is null.</exception>
    /// <exception cref="ObjectDisposedException">The request was disposed, or the receiver was.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public bool TryFail(ushort code, string text) => TryAnswer(EnvelopeKind.Failed, code, text);

    /// <summary>Reports that the request was not executed. The gateway sends it to another receiver.</summary>
    /// <inheritdoc cref="TryFail"/>
    public bool TryRefuse(ushort code, string text) => TryAnswer(EnvelopeKind.Refused, code, text);

    /// <summary>Ends the request and gives its memory back. Idempotent. A request without an answer is reported as failed, since it may
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

    /// <summary>Takes the right to answer; false also where the request has ended.</summary>
    internal bool TryTakeAnswer() => _open?.TryAnswer(_generation) == true;

    internal ReceiverRequests Requests => _requests ??
        throw new InvalidOperationException("This request was not received: it is the default value of its struct.");

    /// <summary>A plain message's answer has an envelope only where its first part could be taken for one.</summary>
    private MessageBuilder Begin(MessageBuilder reply, ReadOnlySpan<byte> firstPart) =>
        _open is not null
            ? reply.AddEnvelope(new RequestEnvelope { Kind = EnvelopeKind.Reply, Flags = Requests.Flags, Id = _open.Id })
            : RequestEnvelope.HasMagic(firstPart) ? reply.AddEnvelope(new RequestEnvelope { Kind = EnvelopeKind.Plain }) : reply;

    private bool TryReplyWith(MessageBuilder reply, out ZlinkError error) =>
        _open is null ? Answers.TrySend(Requests, Message, reply, out error)
            : TryTakeAnswer(out error) && Ended(Answers.TrySend(Requests, Message, reply, out error), ref Requests.Counters.Replies);

    private async ValueTask ReplyLaterAsync(ReadOnlyMemory<byte> payload, CancellationToken cancellationToken)
    {
        if (_open is not null && !TryTakeAnswer(out ZlinkError error))
        {
            throw new ZlinkException(error, "the request has already been answered");
        }

        bool isSent = false;
        using var reply = new MessageBuilder();
        try
        {
            await Requests.Socket.SendToAsync(Message, Begin(reply, payload.Span).Add(payload.Span), cancellationToken)
                .ConfigureAwait(false);
            isSent = true;
        }
        finally
        {
            if (_open is not null)
            {
                Ended(isSent, ref Requests.Counters.Replies);
            }
        }
    }

    private bool TryAnswer(EnvelopeKind kind, ushort code, string text)
    {
        ArgumentNullException.ThrowIfNull(text);
        ReceiverRequests requests = Requests;
        return _open is not null && TryTakeAnswer(out _)
            && Ended(
                Answers.TrySend(requests, Message, new RequestEnvelope { Kind = kind, Flags = requests.Flags, Code = code, Id = Id },
                    text),
                ref kind == EnvelopeKind.Failed ? ref requests.Counters.Failed : ref requests.Counters.Refused);
    }

    private bool TryTakeAnswer(out ZlinkError error)
    {
        bool isTaken = _open!.TryAnswer(_generation) ?? throw new ObjectDisposedException(nameof(ServiceRequest));
        error = isTaken ? ZlinkError.None : ZlinkError.HostUnreachable;
        return isTaken;
    }

    private bool Ended(bool isSent, ref long counter)
    {
        if (isSent)
        {
            Interlocked.Increment(ref counter);
        }
        else
        {
            _open!.UndoAnswer(_generation);
        }

        return isSent;
    }
}
