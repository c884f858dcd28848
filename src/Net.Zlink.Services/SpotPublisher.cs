using System.Runtime.CompilerServices;

namespace Net.Zlink.Services;

/// <summary>Publishes under one topic, which is checked and encoded once. It need not be disposed.</summary>
/// <remarks>Safe for any number of threads. Messages of one thread are received in their order.</remarks>
public sealed class SpotPublisher
{
    private readonly TopicIndex _index;
    private readonly PublishPath _path;
    private TopicEntry _topic;

    internal SpotPublisher(TopicIndex index, PublishPath path, TopicEntry topic)
    {
        _index = index;
        _path = path;
        _topic = topic;
    }

    /// <summary>The topic.</summary>
    public string Topic => _topic.Text!;

    private TopicEntry Entry
    {
        get
        {
            TopicEntry entry = _topic;
            return entry.Version == _index.Version ? entry : _topic = _index.FindOwn(entry.Bytes);
        }
    }

    /// <inheritdoc cref="SpotNode.TryPublish(string, ReadOnlySpan{byte})"/>
    public SendResult TryPublish(ReadOnlySpan<byte> payload) => _path.TryPublish(_topic.Bytes, Entry, payload);

    /// <inheritdoc cref="SpotNode.TryPublish(string, MessageBuilder)"/>
    public SendResult TryPublish(MessageBuilder parts) => _path.TryPublish(_topic.Bytes, Entry, parts);

    /// <inheritdoc cref="SpotNode.TryPublish(string, in Message)"/>
    public SendResult TryPublish(in Message message) => _path.TryPublish(_topic.Bytes, Entry, message);

    /// <inheritdoc cref="SpotNode.PublishAsync(string, ReadOnlyMemory{byte}, CancellationToken)"/>
    public ValueTask PublishAsync(ReadOnlyMemory<byte> payload, CancellationToken cancellationToken = default) =>
        _path.PublishAsync(_topic.Bytes, Entry, payload, cancellationToken);

    /// <inheritdoc cref="SpotNode.PublishAsync(string, MessageBuilder, CancellationToken)"/>
    public ValueTask PublishAsync(MessageBuilder parts, CancellationToken cancellationToken = default) =>
        _path.PublishAsync(_topic.Bytes, Entry, parts, cancellationToken);

    /// <summary>Publishes messages of one part until one is not accepted.</summary>
    /// <param name="payloads">The messages; copied.</param>
    /// <returns>How many were accepted, from the first one on.</returns>
    /// <exception cref="ObjectDisposedException">The node is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public int PublishMany(ReadOnlySpan<ReadOnlyMemory<byte>> payloads) => _path.PublishMany(Entry, payloads);

    /// <summary>Publishes messages of one part; waits while queues are full.</summary>
    /// <param name="payloads">The messages; unchanged until the task completes.</param>
    /// <param name="cancellationToken">Ends the wait; what was published stays published.</param>
    /// <returns>Complete when all are accepted.</returns>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ObjectDisposedException">The node is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
    public async ValueTask PublishManyAsync(
        ReadOnlyMemory<ReadOnlyMemory<byte>> payloads, CancellationToken cancellationToken = default)
    {
        while (!payloads.IsEmpty)
        {
            cancellationToken.ThrowIfCancellationRequested();
            payloads = payloads[PublishMany(payloads.Span)..];
            if (!payloads.IsEmpty)
            {
                await PublishAsync(payloads.Span[0], cancellationToken).ConfigureAwait(false);
                payloads = payloads[1..];
            }
        }
    }
}
