namespace Net.Zlink.Services;

/// <summary>Sends an application's message to one receiver, behind an envelope of kind Plain where it begins like an envelope. Safe for
/// any number of threads.</summary>
internal sealed class MessageSender(RouterSocket router, MessageBuilderPool builders)
{
    public RouterSocket Router => router;

    public MessageBuilderPool Builders => builders;

    /// <summary>Sends a message if that need not wait.</summary>
    public bool TrySend<T>(ReadOnlySpan<byte> name, scoped in T form, out ZlinkError error)
        where T : ISendForm, allows ref struct
    {
        if (!form.NeedsEnvelope)
        {
            return form.TrySend(router, name, out error);
        }

        MessageBuilder quoted = Quote(form);
        try
        {
            if (!router.TrySend(name, quoted, out error))
            {
                return false;
            }
        }
        finally
        {
            builders.Return(quoted);
        }

        form.Complete();
        return true;
    }

    /// <summary>Sends a message, waiting for room.</summary>
    public ValueTask SendAsync<T>(ReadOnlyMemory<byte> name, in T form, CancellationToken cancellation)
        where T : struct, IAwaitableForm =>
        form.NeedsEnvelope ? SendQuotedAsync(name, form, cancellation) : form.SendAsync(router, name, cancellation);

    /// <summary>Sends a message, blocking the calling thread for room.</summary>
    public void Send(ReadOnlySpan<byte> name, ReadOnlySpan<byte> payload, TimeSpan timeout)
    {
        var form = new SpanForm(payload);
        if (!form.NeedsEnvelope)
        {
            router.Send(name, payload, timeout);
            return;
        }

        MessageBuilder quoted = Quote(form);
        try
        {
            router.Send(name, quoted, timeout);
        }
        finally
        {
            builders.Return(quoted);
        }
    }

    /// <summary>Sends messages of a batch in order, as many as need not wait.</summary>
    /// <returns>How many were accepted from <paramref name="from"/> on.</returns>
    public int SendMany<T>(ReadOnlySpan<byte> name, scoped in T batch, int from, int count, out ZlinkError error)
        where T : ISendBatch, allows ref struct
    {
        error = ZlinkError.None;
        int next = from;
        while (next < from + count && error == ZlinkError.None)
        {
            int end = next;
            while (end < from + count && !batch.NeedsEnvelope(end))
            {
                end++;
            }

            next += end > next ? batch.SendMany(router, name, next, end - next, out error)
                : batch.TrySend(this, name, next, out error) ? 1
                : 0;
        }

        return next - from;
    }

    private MessageBuilder Quote<T>(scoped in T form)
        where T : ISendForm, allows ref struct
    {
        MessageBuilder builder = builders.Rent();
        RequestEnvelope.WritePlain(builder.AddSpace(RequestEnvelope.HeaderSize));
        form.CopyTo(builder);
        return builder;
    }

    private async ValueTask SendQuotedAsync<T>(ReadOnlyMemory<byte> name, T form, CancellationToken cancellation)
        where T : struct, IAwaitableForm
    {
        MessageBuilder quoted = Quote(form);
        try
        {
            await router.SendAsync(name, quoted, cancellation).ConfigureAwait(false);
        }
        finally
        {
            builders.Return(quoted);
        }

        form.Complete();
    }
}
