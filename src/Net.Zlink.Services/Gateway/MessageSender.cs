using System.Buffers;

namespace Net.Zlink.Services;

/// <summary>Sends an application's message to one receiver, behind an envelope of kind Plain where it begins like an envelope. Safe for
/// any number of threads.</summary>
internal sealed class MessageSender(RouterSocket router, MessageBuilderPool builders, UnreadMessages unread)
{
    public RouterSocket Router => router;

    /// <summary>Sends a message if that need not wait.</summary>
    public bool TrySend<T>(ReadOnlySpan<byte> name, scoped in T form, out ZlinkError error)
        where T : ISendForm, allows ref struct
    {
        unread.Want();
        if (!NeedsEnvelope(form))
        {
            return form.TrySend(router, name, out error);
        }

        using RentedBuilder quoted = Quote(form);
        bool isSent = router.TrySend(name, quoted.Message, out error);
        if (isSent)
        {
            form.Complete();
        }

        return isSent;
    }

    /// <summary>Sends a message, waiting for capacity.</summary>
    public ValueTask SendAsync<T>(ReadOnlyMemory<byte> name, in T form, CancellationToken cancellation)
        where T : struct, IAwaitableForm
    {
        unread.Want();
        return NeedsEnvelope(form) ? SendQuotedAsync(name, form, cancellation) : form.SendAsync(router, name, cancellation);
    }

    /// <summary>Sends a message, blocking the calling thread for capacity.</summary>
    public void Send(ReadOnlySpan<byte> name, ReadOnlySpan<byte> payload, TimeSpan timeout)
    {
        unread.Want();
        var form = new SpanForm(payload);
        if (!NeedsEnvelope(form))
        {
            router.Send(name, payload, timeout);
            return;
        }

        using RentedBuilder quoted = Quote(form);
        router.Send(name, quoted.Message, timeout);
    }

    /// <summary>Sends messages in order, as many as need not wait.</summary>
    /// <returns>How many were accepted.</returns>
    public int SendMany<TItem, TForm>(ReadOnlySpan<byte> name, ReadOnlySpan<TItem> items, out ZlinkError error)
        where TForm : struct, IBatchForm<TItem, TForm>
    {
        unread.Want();
        error = ZlinkError.None;
        int sent = 0;
        while (sent < items.Length && error == ZlinkError.None)
        {
            int end = sent;
            while (end < items.Length && !NeedsEnvelope(TForm.Of(items[end])))
            {
                end++;
            }

            sent += end > sent ? TForm.SendMany(router, name, items[sent..end], out error)
                : TrySend(name, TForm.Of(items[sent]), out error) ? 1
                : 0;
        }

        return sent;
    }

    private static bool NeedsEnvelope<T>(scoped in T form)
        where T : ISendForm, allows ref struct => RequestEnvelope.HasMagic(form.FirstPart);

    private RentedBuilder Quote<T>(scoped in T form)
        where T : ISendForm, allows ref struct
    {
        var quoted = new RentedBuilder(builders);
        quoted.Message.AddEnvelope(new RequestEnvelope { Kind = EnvelopeKind.Plain });
        form.CopyTo(quoted.Message);
        return quoted;
    }

    private async ValueTask SendQuotedAsync<T>(ReadOnlyMemory<byte> name, T form, CancellationToken cancellation)
        where T : struct, IAwaitableForm
    {
        using RentedBuilder quoted = Quote(form);
        await router.SendAsync(name, quoted.Message, cancellation).ConfigureAwait(false);
        form.Complete();
    }
}

/// <summary>An empty builder of a pool, which takes it back on Dispose.</summary>
internal readonly struct RentedBuilder(MessageBuilderPool pool) : IDisposable
{
    public MessageBuilder Message { get; } = pool.Rent();

    public void Dispose() => pool.Return(Message);
}

/// <summary>One form in which an application gives a message.</summary>
internal interface ISendForm
{
    ReadOnlySpan<byte> FirstPart { get; }

    /// <summary>Sends it as it is, if that need not wait.</summary>
    bool TrySend(RouterSocket router, ReadOnlySpan<byte> name, out ZlinkError error);

    void CopyTo(MessageBuilder builder);

    /// <summary>A copy of it was sent: what the application gave away with it is ended.</summary>
    void Complete();
}

/// <summary>A form that can wait without blocking.</summary>
internal interface IAwaitableForm : ISendForm
{
    /// <summary>Sends it as it is, waiting for capacity.</summary>
    ValueTask SendAsync(RouterSocket router, ReadOnlyMemory<byte> name, CancellationToken cancellation);
}

/// <summary>A form of which an application gives several at once.</summary>
internal interface IBatchForm<TItem, TForm> : IAwaitableForm
    where TForm : struct, IBatchForm<TItem, TForm>
{
    static abstract TForm Of(in TItem item);

    /// <summary>Sends messages as they are, in order, as many as need not wait.</summary>
    static abstract int SendMany(RouterSocket router, ReadOnlySpan<byte> name, ReadOnlySpan<TItem> items, out ZlinkError error);
}

internal readonly ref struct SpanForm(ReadOnlySpan<byte> payload) : ISendForm
{
    public ReadOnlySpan<byte> FirstPart { get; } = payload;

    public bool TrySend(RouterSocket router, ReadOnlySpan<byte> name, out ZlinkError error) => router.TrySend(name, FirstPart, out error);

    public void CopyTo(MessageBuilder builder) => builder.Add(FirstPart);

    public void Complete()
    {
    }
}

internal readonly struct MemoryForm(ReadOnlyMemory<byte> payload) : IBatchForm<ReadOnlyMemory<byte>, MemoryForm>
{
    public ReadOnlySpan<byte> FirstPart => payload.Span;

    public static MemoryForm Of(in ReadOnlyMemory<byte> item) => new(item);

    public static int SendMany(
        RouterSocket router, ReadOnlySpan<byte> name, ReadOnlySpan<ReadOnlyMemory<byte>> items, out ZlinkError error) =>
        router.SendMany(name, items, out error);

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
    public ReadOnlySpan<byte> FirstPart => parts.Count > 0 ? parts[0] : default;

    public bool TrySend(RouterSocket router, ReadOnlySpan<byte> name, out ZlinkError error) => router.TrySend(name, parts, out error);

    public ValueTask SendAsync(RouterSocket router, ReadOnlyMemory<byte> name, CancellationToken cancellation) =>
        router.SendAsync(name, parts, cancellation);

    public void CopyTo(MessageBuilder builder) => builder.AddParts(parts);

    public void Complete() => parts.Clear();
}

internal readonly struct MessageForm(Message message) : IBatchForm<Message, MessageForm>
{
    private readonly Message _message = message;

    public ReadOnlySpan<byte> FirstPart => _message.Span;

    public static MessageForm Of(in Message item) => new(item);

    public static int SendMany(RouterSocket router, ReadOnlySpan<byte> name, ReadOnlySpan<Message> items, out ZlinkError error) =>
        router.SendMany(name, items, out error);

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
    public ReadOnlySpan<byte> FirstPart => payload.Memory.Span[..length];

    /// <remarks>A socket takes memory over only by its asynchronous form; that completes at once where there is capacity.</remarks>
    public bool TrySend(RouterSocket router, ReadOnlySpan<byte> name, out ZlinkError error)
    {
        error = ZlinkError.Again;
        return false;
    }

    public ValueTask SendAsync(RouterSocket router, ReadOnlyMemory<byte> name, CancellationToken cancellation) =>
        router.SendAsync(name, payload, length, cancellation);

    public void CopyTo(MessageBuilder builder) => builder.Add(FirstPart);

    public void Complete() => payload.Dispose();
}
