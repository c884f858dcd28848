using System.Runtime.CompilerServices;
using System.Threading.Channels;

namespace Net.Zlink.Services;

/// <summary>What happened at a registry.</summary>
public enum RegistryEventType
{
    /// <summary>An instance registered here that was not registered here before.</summary>
    Registered,

    /// <summary>An own entry, or a peer's, has another routing id or weight.</summary>
    Updated,

    /// <summary>An own entry was removed by UNREGISTER, or by <see cref="Registry.Remove"/>.</summary>
    Unregistered,

    /// <summary>An own entry was removed: no heartbeat for <see cref="RegistryOptions.HeartbeatTimeout"/>.</summary>
    Expired,

    /// <summary>A REGISTER was refused; <see cref="RegistryEvent.Text"/> says why.</summary>
    Refused,

    /// <summary>An entry came from a peer.</summary>
    Learned,

    /// <summary>An entry that came from a peer is not listed any more.</summary>
    Lost,

    /// <summary>The first list of a connection to a peer came.</summary>
    PeerUp,

    /// <summary>What a connection to a peer had brought was dropped; <see cref="RegistryEvent.Text"/> says why.</summary>
    PeerDown,

    /// <summary>Another registry uses the number of this one: they ignore each other until one of them gets another number.</summary>
    IdConflict,
}

/// <summary>Something that happened at a registry.</summary>
/// <param name="Type">What happened.</param>
/// <param name="At">When, by the clock of the context.</param>
/// <param name="RegistryId">Whose entry it is, or which peer.</param>
/// <param name="Kind">What the entry is; <see cref="ServiceKind.None"/> for peers.</param>
/// <param name="Instance">The entry as it is, or was at last; null for peers.</param>
/// <param name="Text">More for people; may be empty.</param>
public sealed record RegistryEvent(
    RegistryEventType Type,
    DateTimeOffset At,
    uint RegistryId,
    ServiceKind Kind = ServiceKind.None,
    ServiceInstance? Instance = null,
    string Text = "");

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
