namespace Net.Zlink.Services;

/// <summary>A message in one of the three forms in which an application gives it: bytes, a builder, or a received message.</summary>
internal readonly struct MessageForm
{
    private readonly ReadOnlyMemory<byte> _payload;
    private readonly MessageBuilder? _parts;
    private readonly Message _received;
    private readonly bool _isReceived;

    public MessageForm(ReadOnlyMemory<byte> payload) => _payload = payload;

    public MessageForm(MessageBuilder parts)
    {
        ArgumentNullException.ThrowIfNull(parts);
        _parts = parts;
    }

    public MessageForm(in Message received) => (_received, _isReceived) = (received, true);

    /// <summary>Empty where there is none.</summary>
    public ReadOnlySpan<byte> FirstPart =>
        _isReceived ? _received.Span : _parts is null ? _payload.Span : _parts.Count > 0 ? _parts[0] : default;

    /// <summary>It begins like an envelope, and so has to go behind one of kind Plain.</summary>
    public bool NeedsEnvelope => RequestEnvelope.HasMagic(FirstPart);

    public SendResult TrySend(in PeerSender peer) =>
        _isReceived ? peer.TrySend(_received) : _parts is null ? peer.TrySend(_payload.Span) : peer.TrySend(_parts);

    public ValueTask SendAsync(in PeerSender peer, CancellationToken cancellation) =>
        _isReceived ? peer.SendAsync(_received, cancellation)
            : _parts is null ? peer.SendAsync(_payload, cancellation)
            : peer.SendAsync(_parts, cancellation);

    public MessageBuilder CopyTo(MessageBuilder builder)
    {
        if (_parts is not null)
        {
            return builder.AddParts(_parts);
        }

        if (!_isReceived)
        {
            return builder.Add(_payload.Span);
        }

        for (int i = 0; i < _received.PartCount; i++)
        {
            builder.Add(_received[i].Span);
        }

        return builder;
    }

    /// <summary>A copy of it was sent: what the application gave away with it is ended.</summary>
    public void Complete()
    {
        _parts?.Clear();
        _received.Dispose();
    }
}

/// <summary>Reads and sends what a batch consists of.</summary>
internal interface IBatchForm<TItem>
{
    static abstract MessageForm FormOf(in TItem item);

    static abstract ReadOnlySpan<byte> FirstPart(in TItem item);

    static abstract int SendMany(in PeerSender peer, ReadOnlySpan<TItem> items);
}

internal readonly struct PayloadBatch : IBatchForm<ReadOnlyMemory<byte>>
{
    public static MessageForm FormOf(in ReadOnlyMemory<byte> item) => new(item);

    public static ReadOnlySpan<byte> FirstPart(in ReadOnlyMemory<byte> item) => item.Span;

    public static int SendMany(in PeerSender peer, ReadOnlySpan<ReadOnlyMemory<byte>> items) => peer.SendMany(items);
}

internal readonly struct MessageBatch : IBatchForm<Message>
{
    public static MessageForm FormOf(in Message item) => new(item);

    public static ReadOnlySpan<byte> FirstPart(in Message item) => item.Span;

    public static int SendMany(in PeerSender peer, ReadOnlySpan<Message> items) => peer.SendMany(items);
}
