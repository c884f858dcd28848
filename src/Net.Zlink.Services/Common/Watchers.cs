using System.Runtime.CompilerServices;
using System.Threading.Channels;

namespace Net.Zlink.Services;

/// <summary>The readers of something that changes, each with a bounded channel of its own. Safe for any number of threads.</summary>
internal sealed class Watchers<T>(int capacity, BoundedChannelFullMode whenFull)
{
    private readonly Lock _gate = new();
    private Channel<T>[] _readers = [];
    private bool _isComplete;

    public void Publish(T item)
    {
        foreach (Channel<T> reader in Volatile.Read(ref _readers))
        {
            reader.Writer.TryWrite(item);
        }
    }

    /// <summary>Readers see what they have not seen, and end.</summary>
    public void Complete()
    {
        lock (_gate)
        {
            _isComplete = true;
            Array.ForEach(_readers, static reader => reader.Writer.TryComplete());
        }
    }

    /// <summary>Reads from the call on, not from the first read; <paramref name="first"/> comes before what is published.</summary>
    public IAsyncEnumerable<T> WatchAsync(CancellationToken cancellationToken, params ReadOnlySpan<T> first)
    {
        var reader = Channel.CreateBounded<T>(new BoundedChannelOptions(capacity) { FullMode = whenFull });
        foreach (T item in first)
        {
            reader.Writer.TryWrite(item);
        }

        lock (_gate)
        {
            _readers = [.. _readers, reader];
            if (_isComplete)
            {
                reader.Writer.TryComplete();
            }
        }

        return ReadAsync(reader, cancellationToken);
    }

    private async IAsyncEnumerable<T> ReadAsync(Channel<T> reader, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        try
        {
            await foreach (T item in reader.Reader.ReadAllAsync(cancellationToken).ConfigureAwait(false))
            {
                yield return item;
            }
        }
        finally
        {
            lock (_gate)
            {
                _readers = [.. _readers.Where(other => other != reader)];
            }
        }
    }
}
