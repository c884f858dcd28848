using System.Buffers;

namespace Net.Zlink.Services;

/// <summary>One form in which an application gives a message.</summary>
internal interface ISendForm
{
    /// <summary>Its first part begins like an envelope: a copy of it goes behind one of kind Plain.</summary>
    bool NeedsEnvelope { get; }

    /// <summary>Sends it as it is, if that need not wait.</summary>
    bool TrySend(RouterSocket router, ReadOnlySpan<byte> name, out ZlinkError error);

    /// <summary>Adds a copy of its parts.</summary>
    void CopyTo(MessageBuilder builder);

    /// <summary>A copy of it was sent: what the application gave away with it is ended.</summary>
    void Complete();
}

/// <summary>A form that can wait without blocking.</summary>
internal interface IAwaitableForm : ISendForm
{
    /// <summary>Sends it as it is, waiting for room.</summary>
    ValueTask SendAsync(RouterSocket router, ReadOnlyMemory<byte> name, CancellationToken cancellation);
}

/// <summary>Several messages that an application gives at once.</summary>
internal interface ISendBatch
{
    int Count { get; }

    bool NeedsEnvelope(int index);

    /// <summary>Sends messages as they are, in order, as many as need not wait.</summary>
    int SendMany(RouterSocket router, ReadOnlySpan<byte> name, int from, int count, out ZlinkError error);

    /// <summary>Sends one of them behind an envelope.</summary>
    bool TrySend(MessageSender sender, ReadOnlySpan<byte> name, int index, out ZlinkError error);
}

internal readonly ref struct SpanForm(ReadOnlySpan<byte> payload) : ISendForm
{
    private readonly ReadOnlySpan<byte> _payload = payload;

    public bool NeedsEnvelope => RequestEnvelope.BeginsLikeOne(_payload);

    public bool TrySend(RouterSocket router, ReadOnlySpan<byte> name, out ZlinkError error) => router.TrySend(name, _payload, out error);

    public void CopyTo(MessageBuilder builder) => builder.Add(_payload);

    public void Complete()
    {
    }
}

internal readonly struct MemoryForm(ReadOnlyMemory<byte> payload) : IAwaitableForm
{
    public bool NeedsEnvelope => RequestEnvelope.BeginsLikeOne(payload.Span);

    public bool TrySend(RouterSocket router, ReadOnlySpan<byte> name, out ZlinkError error) =>
        router.TrySend(name, payload.Span, out error);

    public ValueTask SendAsync(RouterSocket router, ReadOnlyMemory<byte> name, CancellationToken cancellation) =>
        router.SendAsync(name, payload, cancellation);

    public void CopyTo(MessageBuilder builder) => builder.Add(payload.Span);

    public void Complete()
    {
    }
}

internal readonly struct BuilderForm(MessageBuilder parts) : IAwaitableForm
{
    public bool NeedsEnvelope => parts.Count > 0 && RequestEnvelope.BeginsLikeOne(parts[0]);

    public bool TrySend(RouterSocket router, ReadOnlySpan<byte> name, out ZlinkError error) => router.TrySend(name, parts, out error);

    public ValueTask SendAsync(RouterSocket router, ReadOnlyMemory<byte> name, CancellationToken cancellation) =>
        router.SendAsync(name, parts, cancellation);

    public void CopyTo(MessageBuilder builder) => builder.AddParts(parts);

    public void Complete() => parts.Clear();
}

internal readonly struct MessageForm(Message message) : IAwaitableForm
{
    private readonly Message _message = message;

    public bool NeedsEnvelope => RequestEnvelope.BeginsLikeOne(_message.Span);

    public bool TrySend(RouterSocket router, ReadOnlySpan<byte> name, out ZlinkError error) => router.TrySend(name, _message, out error);

    public ValueTask SendAsync(RouterSocket router, ReadOnlyMemory<byte> name, CancellationToken cancellation) =>
        router.SendAsync(name, _message, cancellation);

    public void CopyTo(MessageBuilder builder)
    {
        for (int i = 0; i < _message.PartCount; i++)
        {
            builder.Add(_message[i].Span);
        }
    }

    public void Complete() => _message.Dispose();
}

/// <summary>Memory that becomes the message: disposed when it was sent, and the caller's if the send fails.</summary>
internal readonly struct OwnedForm(IMemoryOwner<byte> payload, int length) : IAwaitableForm
{
    public bool NeedsEnvelope => RequestEnvelope.BeginsLikeOne(payload.Memory.Span[..length]);

    /// <remarks>A socket takes memory over only by its asynchronous form; that completes at once where there is room.</remarks>
    public bool TrySend(RouterSocket router, ReadOnlySpan<byte> name, out ZlinkError error)
    {
        error = ZlinkError.Again;
        return false;
    }

    public ValueTask SendAsync(RouterSocket router, ReadOnlyMemory<byte> name, CancellationToken cancellation) =>
        router.SendAsync(name, payload, length, cancellation);

    public void CopyTo(MessageBuilder builder) => builder.Add(payload.Memory.Span[..length]);

    public void Complete() => payload.Dispose();
}

internal readonly ref struct PayloadBatch(ReadOnlySpan<ReadOnlyMemory<byte>> payloads) : ISendBatch
{
    private readonly ReadOnlySpan<ReadOnlyMemory<byte>> _payloads = payloads;

    public int Count => _payloads.Length;

    public bool NeedsEnvelope(int index) => RequestEnvelope.BeginsLikeOne(_payloads[index].Span);

    public int SendMany(RouterSocket router, ReadOnlySpan<byte> name, int from, int count, out ZlinkError error) =>
        router.SendMany(name, _payloads.Slice(from, count), out error);

    public bool TrySend(MessageSender sender, ReadOnlySpan<byte> name, int index, out ZlinkError error) =>
        sender.TrySend(name, new SpanForm(_payloads[index].Span), out error);
}

internal readonly ref struct MessageBatch(ReadOnlySpan<Message> messages) : ISendBatch
{
    private readonly ReadOnlySpan<Message> _messages = messages;

    public int Count => _messages.Length;

    public bool NeedsEnvelope(int index) => RequestEnvelope.BeginsLikeOne(_messages[index].Span);

    public int SendMany(RouterSocket router, ReadOnlySpan<byte> name, int from, int count, out ZlinkError error) =>
        router.SendMany(name, _messages.Slice(from, count), out error);

    public bool TrySend(MessageSender sender, ReadOnlySpan<byte> name, int index, out ZlinkError error) =>
        sender.TrySend(name, new MessageForm(_messages[index]), out error);
}
