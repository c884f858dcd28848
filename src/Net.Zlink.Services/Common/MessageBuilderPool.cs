using System.Collections.Concurrent;
using Net.Zlink.Buffers;

namespace Net.Zlink.Services;

/// <summary>Builders that are kept for the next message, so that one allocates nothing in steady state. Safe for any number of
/// threads.</summary>
/// <param name="pool">Of the builders' buffers.</param>
/// <param name="maxKept">64 threads rarely send at once; a builder holds 256 bytes or more.</param>
internal sealed class MessageBuilderPool(BufferPool pool, int maxKept = 64) : IDisposable
{
    private readonly ConcurrentQueue<MessageBuilder> _kept = [];
    private MessageBuilder? _spare; // One thread that sends alone finds it without the queue.
    private bool _isDisposed;

    /// <summary>An empty builder.</summary>
    public MessageBuilder Rent() => Interlocked.Exchange(ref _spare, null)
        ?? (_kept.TryDequeue(out MessageBuilder? kept) ? kept : new MessageBuilder(pool));

    /// <summary>Takes a builder back, sent or not.</summary>
    public void Return(MessageBuilder builder)
    {
        builder.Clear();
        if (Interlocked.CompareExchange(ref _spare, builder, null) is not null)
        {
            if (_kept.Count < maxKept)
            {
                _kept.Enqueue(builder);
            }
            else
            {
                builder.Dispose();
            }
        }

        if (Volatile.Read(ref _isDisposed))
        {
            Dispose(); // It was returned behind the end, or at the same moment.
        }
    }

    public void Dispose()
    {
        Volatile.Write(ref _isDisposed, true);
        Interlocked.Exchange(ref _spare, null)?.Dispose();
        while (_kept.TryDequeue(out MessageBuilder? builder))
        {
            builder.Dispose();
        }
    }
}

/// <summary>An empty builder of a pool, which takes it back on Dispose.</summary>
internal readonly struct RentedBuilder(MessageBuilderPool pool) : IDisposable
{
    public MessageBuilder Message { get; } = pool.Rent();

    public void Dispose() => pool.Return(Message);
}
