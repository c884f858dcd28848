namespace Net.Zlink.Services;

/// <summary>Several messages that an application gives at once.</summary>
internal interface ISendBatch
{
    int Count { get; }

    /// <summary>Sends messages to one receiver in order, as many as need not wait.</summary>
    /// <returns>How many were accepted from <paramref name="from"/> on.</returns>
    int Send(RouterSocket router, EnvelopeBuilders builders, ReadOnlySpan<byte> name, int from, int count, out ZlinkError error);
}

internal readonly ref struct PayloadBatch(ReadOnlySpan<ReadOnlyMemory<byte>> payloads) : ISendBatch
{
    private readonly ReadOnlySpan<ReadOnlyMemory<byte>> _payloads = payloads;

    public int Count => _payloads.Length;

    public int Send(RouterSocket router, EnvelopeBuilders builders, ReadOnlySpan<byte> name, int from, int count, out ZlinkError error)
    {
        ReadOnlySpan<ReadOnlyMemory<byte>> block = _payloads.Slice(from, count);
        error = ZlinkError.None;
        int sent = 0;
        while (sent < count && error == ZlinkError.None)
        {
            int end = sent;
            while (end < count && !RequestEnvelope.BeginsLikeOne(block[end].Span))
            {
                end++;
            }

            sent += end == sent
                ? new SpanForm(block[sent].Span).TrySend(router, builders, name, out error) ? 1 : 0
                : router.SendMany(name, block[sent..end], out error);
        }

        return sent;
    }
}

internal readonly ref struct MessageBatch(ReadOnlySpan<Message> messages) : ISendBatch
{
    private readonly ReadOnlySpan<Message> _messages = messages;

    public int Count => _messages.Length;

    public int Send(RouterSocket router, EnvelopeBuilders builders, ReadOnlySpan<byte> name, int from, int count, out ZlinkError error)
    {
        ReadOnlySpan<Message> block = _messages.Slice(from, count);
        error = ZlinkError.None;
        int sent = 0;
        while (sent < count && error == ZlinkError.None)
        {
            int end = sent;
            while (end < count && !RequestEnvelope.BeginsLikeOne(block[end].Span))
            {
                end++;
            }

            sent += end == sent
                ? new MessageForm(block[sent]).TrySend(router, builders, name, out error) ? 1 : 0
                : router.SendMany(name, block[sent..end], out error);
        }

        return sent;
    }
}
