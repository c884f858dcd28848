using System.Threading.Channels;

namespace Net.Zlink.Services;

/// <summary>Publications that wait for the loop that sends and delivers them.</summary>
internal sealed class PublishQueue
{
    private readonly Channel<QueuedPublication> _channel;
    private readonly TopicIndex _index;
    private readonly Func<Message, TopicEntry, CancellationToken, ValueTask> _publish;
    private long _dropped;

    public PublishQueue(int capacity, BoundedChannelFullMode fullMode, TopicIndex index,
        Func<Message, TopicEntry, CancellationToken, ValueTask> publish)
    {
        _index = index;
        _publish = publish;
        var options = new BoundedChannelOptions(capacity) { FullMode = fullMode, SingleReader = true };
        _channel = Channel.CreateBounded<QueuedPublication>(options, Drop);
    }

    public int Count => _channel.Reader.Count;

    public long Dropped => Interlocked.Read(ref _dropped);

    /// <summary>Takes the message over if it fits.</summary>
    public bool TryEnqueue(in Message message, TopicEntry topic) => _channel.Writer.TryWrite(new QueuedPublication(message, topic));

    /// <summary>Waits until it fits; the message stays the caller's if it throws.</summary>
    /// <exception cref="ChannelClosedException">The node ends.</exception>
    public ValueTask EnqueueAsync(in Message message, TopicEntry topic, CancellationToken cancellationToken) =>
        _channel.Writer.WriteAsync(new QueuedPublication(message, topic), cancellationToken);

    public void Complete() => _channel.Writer.TryComplete();

    /// <summary>Publishes in order until all is published behind <see cref="Complete"/>. The token ends a publication that waits for a
    /// peer.</summary>
    public async ValueTask RunAsync(CancellationToken cancellationToken)
    {
        // Without the token a wait allocates nothing; Complete ends it.
        while (await _channel.Reader.WaitToReadAsync(CancellationToken.None).ConfigureAwait(false))
        {
            while (_channel.Reader.TryRead(out QueuedPublication next))
            {
                try
                {
                    await _publish(next.Message, _index.Refresh(next.Topic, next.Message.Span), cancellationToken).ConfigureAwait(false);
                }
                catch
                {
                    Interlocked.Increment(ref _dropped);
                    throw;
                }
            }
        }

        throw new ObjectDisposedException(nameof(PublishQueue)); // So that its loop ends.
    }

    /// <summary>Drops and counts what is left.</summary>
    public void DropAll()
    {
        Complete();
        while (_channel.Reader.TryRead(out QueuedPublication left))
        {
            Drop(left);
        }
    }

    private void Drop(QueuedPublication publication)
    {
        Interlocked.Increment(ref _dropped);
        publication.Message.Dispose();
    }

    private readonly record struct QueuedPublication(Message Message, TopicEntry Topic);
}
