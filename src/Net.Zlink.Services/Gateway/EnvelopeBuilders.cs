using Net.Zlink.Buffers;

namespace Net.Zlink.Services;

/// <summary>Builders for messages behind an envelope, kept for the next one: a request allocates nothing in steady state. Safe for any
/// number of threads.</summary>
internal sealed class EnvelopeBuilders(BufferPool pool) : IDisposable
{
    // As many threads rarely send at once; a builder holds 256 bytes or more.
    private const int MaxKept = 64;

    private readonly Lock _gate = new();
    private readonly Stack<MessageBuilder> _kept = [];
    private bool _isDisposed;

    /// <summary>An empty builder.</summary>
    public MessageBuilder Rent()
    {
        lock (_gate)
        {
            return _kept.TryPop(out MessageBuilder? kept) ? kept : new MessageBuilder(pool);
        }
    }

    /// <summary>Takes a builder back, sent or not.</summary>
    public void Return(MessageBuilder builder)
    {
        builder.Clear();
        lock (_gate)
        {
            if (!_isDisposed && _kept.Count < MaxKept)
            {
                _kept.Push(builder);
                return;
            }
        }

        builder.Dispose();
    }

    /// <summary>An envelope of kind Plain, for parts that begin like an envelope.</summary>
    public MessageBuilder RentPlain()
    {
        MessageBuilder builder = Rent();
        RequestEnvelope.WritePlain(builder.AddSpace(RequestEnvelope.HeaderSize));
        return builder;
    }

    /// <summary>The same, and one part.</summary>
    public MessageBuilder RentPlain(ReadOnlySpan<byte> part) => RentPlain().Add(part);

    /// <summary>The same, and the parts of a message, which stays the caller's.</summary>
    public MessageBuilder RentPlain(in Message message)
    {
        MessageBuilder builder = RentPlain();
        for (int i = 0; i < message.PartCount; i++)
        {
            builder.Add(message[i].Span);
        }

        return builder;
    }

    /// <summary>The same, and the parts of another builder, which stays as it is.</summary>
    public MessageBuilder RentPlain(MessageBuilder parts) => AddParts(RentPlain(), parts);

    /// <summary>Adds copies of the parts of another builder.</summary>
    public static MessageBuilder AddParts(MessageBuilder builder, MessageBuilder parts)
    {
        for (int i = 0; i < parts.Count; i++)
        {
            builder.Add(parts[i]);
        }

        return builder;
    }

    public void Dispose()
    {
        lock (_gate)
        {
            _isDisposed = true;
            while (_kept.TryPop(out MessageBuilder? builder))
            {
                builder.Dispose();
            }
        }
    }
}
