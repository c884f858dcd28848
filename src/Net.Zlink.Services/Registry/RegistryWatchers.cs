using System.Runtime.CompilerServices;
using System.Threading.Channels;

namespace Net.Zlink.Services;

/// <summary>The readers of a registry's events. Each has a bounded queue; one that is slow misses the oldest.</summary>
internal sealed class RegistryWatchers
{
    private const int MaxQueuedEvents = 1024;

    private readonly Lock _gate = new();
    private Channel<RegistryEvent>[] _readers = [];
    private bool _isComplete;

    public void Publish(RegistryEvent one)
    {
        foreach (Channel<RegistryEvent> reader in Volatile.Read(ref _readers))
        {
            reader.Writer.TryWrite(one);
        }
    }

    public void Complete()
    {
        lock (_gate)
        {
            _isComplete = true;
        }

        foreach (Channel<RegistryEvent> reader in Volatile.Read(ref _readers))
        {
            reader.Writer.TryComplete();
        }
    }

    /// <summary>Reads from the call on, not from the first look.</summary>
    public IAsyncEnumerable<RegistryEvent> WatchAsync(CancellationToken cancellationToken)
    {
        var options = new BoundedChannelOptions(MaxQueuedEvents) { FullMode = BoundedChannelFullMode.DropOldest };
        var channel = Channel.CreateBounded<RegistryEvent>(options);
        lock (_gate)
        {
            _readers = [.. _readers, channel];
            if (_isComplete)
            {
                channel.Writer.TryComplete();
            }
        }

        return ReadAsync(channel, cancellationToken);
    }

    private async IAsyncEnumerable<RegistryEvent> ReadAsync(Channel<RegistryEvent> channel,
        [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        try
        {
            await foreach (RegistryEvent one in channel.Reader.ReadAllAsync(cancellationToken).ConfigureAwait(false))
            {
                yield return one;
            }
        }
        finally
        {
            lock (_gate)
            {
                _readers = [.. _readers.Where(other => other != channel)];
            }
        }
    }
}
