using System.Buffers;

namespace Net.Zlink.Services;

/// <summary>One form in which an application gives a message. What begins like an envelope goes behind one of kind Plain.</summary>
internal interface ISendForm
{
    /// <summary>Sends it if that need not wait.</summary>
    bool TrySend(RouterSocket router, EnvelopeBuilders builders, ReadOnlySpan<byte> name, out ZlinkError error);
}

/// <summary>A form that can wait without blocking.</summary>
internal interface IAwaitableForm : ISendForm
{
    /// <summary>Sends it, waiting for room.</summary>
    ValueTask SendAsync(RouterSocket router, EnvelopeBuilders builders, ReadOnlyMemory<byte> name, CancellationToken cancellation);
}

/// <summary>Sends a message that is put together for the occasion, and takes its builder back.</summary>
internal static class QuotedSend
{
    public static bool TrySend(
        RouterSocket router, EnvelopeBuilders builders, ReadOnlySpan<byte> name, MessageBuilder quoted, out ZlinkError error)
    {
        try
        {
            return router.TrySend(name, quoted, out error);
        }
        finally
        {
            builders.Return(quoted);
        }
    }

    public static async ValueTask SendAsync(
        RouterSocket router, EnvelopeBuilders builders, ReadOnlyMemory<byte> name, MessageBuilder quoted, CancellationToken cancellation)
    {
        try
        {
            await router.SendAsync(name, quoted, cancellation).ConfigureAwait(false);
        }
        finally
        {
            builders.Return(quoted);
        }
    }
}

internal readonly ref struct SpanForm(ReadOnlySpan<byte> payload) : ISendForm
{
    private readonly ReadOnlySpan<byte> _payload = payload;

    public bool TrySend(RouterSocket router, EnvelopeBuilders builders, ReadOnlySpan<byte> name, out ZlinkError error) =>
        RequestEnvelope.BeginsLikeOne(_payload)
        ? QuotedSend.TrySend(router, builders, name, builders.RentPlain(_payload), out error)
        : router.TrySend(name, _payload, out error);
}

internal readonly struct MemoryForm(ReadOnlyMemory<byte> payload) : IAwaitableForm
{
    public bool TrySend(RouterSocket router, EnvelopeBuilders builders, ReadOnlySpan<byte> name, out ZlinkError error) =>
        new SpanForm(payload.Span).TrySend(router, builders, name, out error);

    public ValueTask SendAsync(RouterSocket router, EnvelopeBuilders builders, ReadOnlyMemory<byte> name, CancellationToken cancellation) =>
        RequestEnvelope.BeginsLikeOne(payload.Span)
        ? QuotedSend.SendAsync(router, builders, name, builders.RentPlain(payload.Span), cancellation)
        : router.SendAsync(name, payload, cancellation);
}

internal readonly struct BuilderForm(MessageBuilder parts) : IAwaitableForm
{
    private bool NeedsEnvelope => parts.Count > 0 && RequestEnvelope.BeginsLikeOne(parts[0]);

    public bool TrySend(RouterSocket router, EnvelopeBuilders builders, ReadOnlySpan<byte> name, out ZlinkError error)
    {
        if (!NeedsEnvelope)
        {
            return router.TrySend(name, parts, out error);
        }

        bool isSent = QuotedSend.TrySend(router, builders, name, builders.RentPlain(parts), out error);
        if (isSent)
        {
            parts.Clear();
        }

        return isSent;
    }

    public ValueTask SendAsync(RouterSocket router, EnvelopeBuilders builders, ReadOnlyMemory<byte> name, CancellationToken cancellation) =>
        NeedsEnvelope ? SendQuotedAsync(router, builders, name, cancellation) : router.SendAsync(name, parts, cancellation);

    private async ValueTask SendQuotedAsync(
        RouterSocket router, EnvelopeBuilders builders, ReadOnlyMemory<byte> name, CancellationToken cancellation)
    {
        await QuotedSend.SendAsync(router, builders, name, builders.RentPlain(parts), cancellation).ConfigureAwait(false);
        parts.Clear();
    }
}

internal readonly struct MessageForm(Message message) : IAwaitableForm
{
    private readonly Message _message = message;

    public bool TrySend(RouterSocket router, EnvelopeBuilders builders, ReadOnlySpan<byte> name, out ZlinkError error)
    {
        if (!RequestEnvelope.BeginsLikeOne(_message.Span))
        {
            return router.TrySend(name, _message, out error);
        }

        bool isSent = QuotedSend.TrySend(router, builders, name, builders.RentPlain(_message), out error);
        if (isSent)
        {
            _message.Dispose();
        }

        return isSent;
    }

    public ValueTask SendAsync(RouterSocket router, EnvelopeBuilders builders, ReadOnlyMemory<byte> name, CancellationToken cancellation) =>
        RequestEnvelope.BeginsLikeOne(_message.Span)
            ? SendQuotedAsync(router, builders, name, cancellation)
            : router.SendAsync(name, _message, cancellation);

    private async ValueTask SendQuotedAsync(
        RouterSocket router, EnvelopeBuilders builders, ReadOnlyMemory<byte> name, CancellationToken cancellation)
    {
        await QuotedSend.SendAsync(router, builders, name, builders.RentPlain(_message), cancellation).ConfigureAwait(false);
        _message.Dispose();
    }
}

/// <summary>Memory that is handed over: disposed when it was sent, and the caller's if the send fails.</summary>
internal readonly struct OwnedForm(IMemoryOwner<byte> payload, int length) : IAwaitableForm
{
    /// <remarks>A socket has no such form that does not wait: a short payload is copied, and a long one is sent where there is room
    /// now.</remarks>
    public bool TrySend(RouterSocket router, EnvelopeBuilders builders, ReadOnlySpan<byte> name, out ZlinkError error)
    {
        ReadOnlySpan<byte> bytes = payload.Memory.Span[..length];
        bool isSent = new SpanForm(bytes).TrySend(router, builders, name, out error);
        if (isSent)
        {
            payload.Dispose();
        }

        return isSent;
    }

    public ValueTask SendAsync(RouterSocket router, EnvelopeBuilders builders, ReadOnlyMemory<byte> name, CancellationToken cancellation) =>
        RequestEnvelope.BeginsLikeOne(payload.Memory.Span[..length])
        ? SendQuotedAsync(router, builders, name, cancellation)
        : router.SendAsync(name, payload, length, cancellation);

    private async ValueTask SendQuotedAsync(
        RouterSocket router, EnvelopeBuilders builders, ReadOnlyMemory<byte> name, CancellationToken cancellation)
    {
        await QuotedSend.SendAsync(router, builders, name, builders.RentPlain(payload.Memory.Span[..length]), cancellation)
            .ConfigureAwait(false);
        payload.Dispose();
    }
}
