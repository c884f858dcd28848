namespace Net.Zlink.Services;

/// <summary>One message that a subscriber received: a topic and one or more parts, a lease on pooled memory. Dispose it.</summary>
/// <remarks>Copies of this struct are the same lease, as with <see cref="Message"/>.</remarks>
public readonly struct SpotMessage : IDisposable
{
    // In front of the parts there is the topic, as on the wire.
    private readonly Message _message;

    // The topic's text, a MissedTopic, or null where the text is made when it is asked for. One field: a queue moves this struct often.
    private readonly object? _topic;

    internal SpotMessage(in Message message, object? topic, bool isLocal)
    {
        _message = message;
        _topic = topic;
        IsLocal = isLocal;
    }

    /// <summary>The topic. Invalid UTF-8 becomes the replacement character: <see cref="TopicBytes"/> has the bytes.</summary>
    /// <remarks>A node caches the texts of 10,000 topics. For other topics each call creates a string.</remarks>
    /// <exception cref="ObjectDisposedException">The message was disposed, and the text was not cached.</exception>
    public string Topic => _topic as string ?? (_topic as MissedTopic)?.Text
        ?? (_message.PartCount == 0 ? "" : System.Text.Encoding.UTF8.GetString(_message.Span));

    /// <summary>The topic's bytes, valid until Dispose.</summary>
    /// <exception cref="ObjectDisposedException">The message was disposed.</exception>
    public ReadOnlyMemory<byte> TopicBytes => _message.Memory;

    /// <summary>Whether it was published at the subscriber's own node.</summary>
    public bool IsLocal { get; }

    /// <summary>The gap before this message, in which messages of its node may be missing: the connection was lost and re-established.
    /// Null for all messages except the first one after such a gap.</summary>
    /// <remarks>If a full queue drops that message, the next message of the queue has the gap.</remarks>
    public SpotGap? MissedBefore => (_topic as MissedTopic)?.Gap;

    /// <summary>Number of parts without the topic, at least 1; 0 for a message that was never received.</summary>
    /// <exception cref="ObjectDisposedException">The message was disposed.</exception>
    public int PartCount => Math.Max(0, _message.PartCount - 1);

    /// <summary>One part, valid until Dispose.</summary>
    /// <param name="index">From 0 on.</param>
    /// <exception cref="ArgumentOutOfRangeException">There is no such part.</exception>
    /// <exception cref="ObjectDisposedException">The message was disposed.</exception>
    public ReadOnlyMemory<byte> this[int index]
    {
        get
        {
            ArgumentOutOfRangeException.ThrowIfNegative(index);
            ArgumentOutOfRangeException.ThrowIfGreaterThanOrEqual(index, PartCount);
            return _message[index + 1];
        }
    }

    /// <summary>The first part, which is all of a message of one part. Valid until Dispose.</summary>
    /// <exception cref="ObjectDisposedException">The message was disposed.</exception>
    public ReadOnlyMemory<byte> Memory => PartCount == 0 ? ReadOnlyMemory<byte>.Empty : _message[1];

    /// <inheritdoc cref="Memory"/>
    public ReadOnlySpan<byte> Span => Memory.Span;

    /// <summary>The message with the topic as its first part.</summary>
    internal Message Whole => _message;

    /// <summary>What the constructor takes.</summary>
    internal object? TopicText => _topic;

    /// <summary>Bytes of the topic and all parts.</summary>
    internal long ByteCount => _message.ByteCount;

    /// <summary>Decodes a part as UTF-8.</summary>
    /// <param name="index">From 0 on.</param>
    /// <returns>A new string.</returns>
    /// <exception cref="ArgumentOutOfRangeException">There is no such part.</exception>
    /// <exception cref="ObjectDisposedException">The message was disposed.</exception>
    public string GetString(int index = 0) => System.Text.Encoding.UTF8.GetString(this[index].Span);

    /// <summary>Creates a second lease on the same bytes. Dispose both.</summary>
    /// <returns>The second lease; no bytes are copied.</returns>
    /// <exception cref="ObjectDisposedException">The message was disposed.</exception>
    public SpotMessage Copy() => new(_message.Copy(), _topic, IsLocal);

    /// <summary>Ends the lease; idempotent.</summary>
    public void Dispose() => _message.Dispose();

    /// <summary>The same lease, as the first message behind a gap.</summary>
    internal SpotMessage After(SpotGap gap) =>
        new(_message, new MissedTopic(_topic as string ?? (_topic as MissedTopic)?.Text, gap), IsLocal);

    private sealed record MissedTopic(string? Text, SpotGap Gap);
}
