using System.Runtime.CompilerServices;

namespace Net.Zlink.Services;

/// <summary>Receives messages of its subscribed topics, published at its own node and at the nodes to which that node is connected.
/// to.</summary>
/// <remarks>
/// Safe for any number of threads. A message is received once, however many subscriptions match it. Messages wait in a bounded queue; a
/// subscriber that does not keep up misses messages, which are counted, and no other subscriber does.
/// </remarks>
public sealed class SpotSubscriber : IAsyncDisposable, IDisposable
{
    private readonly SubscriberSet _owner;
    private readonly SubscriberQueue _queue;
    private HandlerLoop? _handler;

    internal SpotSubscriber(SubscriberSet owner, SubscriberQueue queue)
    {
        _owner = owner;
        _queue = queue;
    }

    /// <summary>Subscribes one topic. Repeating it has no effect.</summary>
    /// <param name="topic">1 to 255 bytes of UTF-8; an asterisk has no special meaning.</param>
    /// <exception cref="ArgumentException">The topic is null, empty or too long.</exception>
    /// <exception cref="ObjectDisposedException">The subscriber is disposed, or its node.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public void Subscribe(string topic) =>
        Add(TopicBytes.Encode(topic, stackalloc byte[TopicBytes.MaxLength], nameof(topic)), isPrefix: false);

    /// <summary>Removes the subscription of one topic. Queued messages stay.</summary>
    /// <param name="topic">As it was given to <see cref="Subscribe"/>.</param>
    /// <returns>False: it was not subscribed.</returns>
    /// <exception cref="ArgumentException">The topic is null, empty or too long.</exception>
    public bool Unsubscribe(string topic) => _owner.Index.Remove(
        _queue, TopicBytes.Encode(topic, stackalloc byte[TopicBytes.MaxLength], nameof(topic)), isPrefix: false);

    /// <summary>Subscribes all topics that begin with a prefix. Repeating it has no effect.</summary>
    /// <param name="prefix">At most 255 bytes of UTF-8; empty for everything.</param>
    /// <exception cref="ArgumentException">The prefix is null or too long.</exception>
    /// <exception cref="ObjectDisposedException">The subscriber is disposed, or its node.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public void SubscribePrefix(string prefix) => Add(TopicBytes.OfPrefix(prefix, nameof(prefix)), isPrefix: true);

    /// <summary>Removes the subscription of a prefix. Queued messages stay.</summary>
    /// <param name="prefix">As it was given to <see cref="SubscribePrefix"/>.</param>
    /// <returns>False: it was not subscribed.</returns>
    /// <exception cref="ArgumentException">The prefix is null or too long.</exception>
    public bool UnsubscribePrefix(string prefix) =>
        _owner.Index.Remove(_queue, TopicBytes.OfPrefix(prefix, nameof(prefix)), isPrefix: true);

    /// <summary>Subscribes a prefix in the native core's text: zone:* is the prefix zone:.</summary>
    /// <param name="pattern">1 to 255 bytes of UTF-8 with one asterisk, at the end.</param>
    /// <exception cref="ArgumentException">It is not such a pattern.</exception>
    /// <exception cref="ObjectDisposedException">The subscriber is disposed, or its node.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public void SubscribePattern(string pattern) => Add(TopicBytes.OfPattern(pattern, nameof(pattern)), isPrefix: true);

    /// <summary>Removes the subscription of a pattern. Queued messages stay.</summary>
    /// <param name="pattern">As it was given to <see cref="SubscribePattern"/>.</param>
    /// <returns>False: it was not subscribed.</returns>
    /// <exception cref="ArgumentException">It is not such a pattern.</exception>
    public bool UnsubscribePattern(string pattern) =>
        _owner.Index.Remove(_queue, TopicBytes.OfPattern(pattern, nameof(pattern)), isPrefix: true);

    /// <summary>Receives the next message, if there is one.</summary>
    /// <param name="message">The message; dispose it.</param>
    /// <returns>False if there is none now.</returns>
    /// <exception cref="InvalidOperationException">A handler receives the messages.</exception>
    /// <exception cref="ObjectDisposedException">The subscriber, its node or its context has ended.</exception>
    public bool TryReceive(out SpotMessage message) => _queue.TryReceive(out message);

    /// <summary>Waits for the next message. Any number may wait; they are served in order.</summary>
    /// <param name="cancellationToken">Ends the wait; no message is lost.</param>
    /// <returns>The message; dispose it.</returns>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="InvalidOperationException">A handler receives the messages.</exception>
    /// <exception cref="ObjectDisposedException">The subscriber, its node or its context has ended.</exception>
    public ValueTask<SpotMessage> ReceiveAsync(CancellationToken cancellationToken = default) => _queue.ReceiveAsync(cancellationToken);

    /// <summary>Receives as many messages as are queued and fit, without waiting.</summary>
    /// <param name="messages">Filled from the start; dispose each received message.</param>
    /// <returns>How many; 0 if there is none.</returns>
    /// <exception cref="InvalidOperationException">A handler receives the messages.</exception>
    /// <exception cref="ObjectDisposedException">The subscriber, its node or its context has ended.</exception>
    public int ReceiveMany(Span<SpotMessage> messages) => _queue.ReceiveMany(messages);

    /// <summary>Waits for a message, then receives as many as are queued and fit.</summary>
    /// <param name="messages">Filled from the start; not empty. Dispose each received message.</param>
    /// <param name="cancellationToken">Ends the wait; no message is lost.</param>
    /// <returns>How many, at least 1.</returns>
    /// <exception cref="ArgumentException"><paramref name="messages"/> is empty.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="InvalidOperationException">A handler receives the messages.</exception>
    /// <exception cref="ObjectDisposedException">The subscriber, its node or its context has ended.</exception>
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    public async ValueTask<int> ReceiveManyAsync(Memory<SpotMessage> messages, CancellationToken cancellationToken = default)
    {
        if (messages.IsEmpty)
        {
            throw new ArgumentException("The buffer is empty: pass one for at least one message.", nameof(messages));
        }

        SpotMessage first = await _queue.ReceiveAsync(cancellationToken).ConfigureAwait(false);
        messages.Span[0] = first;
        return 1 + _queue.ReceiveMore(messages.Span[1..]);
    }

    /// <summary>All messages until the subscriber, its node or its context ends; then the enumeration ends.</summary>
    /// <param name="cancellationToken">Ends the enumeration with an exception; no message is lost.</param>
    /// <returns>The messages; dispose each.</returns>
    public async IAsyncEnumerable<SpotMessage> ReceiveAllAsync([EnumeratorCancellation] CancellationToken cancellationToken = default)
    {
        while (true)
        {
            SpotMessage message;
            try
            {
                message = await _queue.ReceiveAsync(cancellationToken).ConfigureAwait(false);
            }
            catch (ObjectDisposedException)
            {
                yield break;
            }

            yield return message;
        }
    }

    /// <summary>Calls a handler for each message, one after another, on the thread pool, instead of receiving. Queued messages are
    /// passed to it, too.</summary>
    /// <param name="handler">Gets the message, which is disposed when its task completes, and a token that is cancelled when the handler is
    /// disposed. While it runs, messages wait in the subscriber's queue. If it throws, the exception is logged and the next message
    /// is passed.</param>
    /// <returns>Dispose it to end the handler. Dispose waits for a running call, unless it is called inside that call. Messages can be
    /// received then.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="handler"/> is null.</exception>
    /// <exception cref="InvalidOperationException">There is a handler already, or a receive waits.</exception>
    /// <exception cref="ObjectDisposedException">The subscriber, its node or its context has ended.</exception>
    public IAsyncDisposable OnMessage(Func<SpotMessage, CancellationToken, ValueTask> handler)
    {
        ArgumentNullException.ThrowIfNull(handler);
        return _handler = new HandlerLoop(_queue, handler, _owner.OnHandlerFault);
    }

    /// <summary>The messages it has received so far: a snapshot.</summary>
    /// <returns>The statistics.</returns>
    public SpotSubscriberStatistics GetStatistics() => _queue.Statistics;

    /// <summary>Ends its subscriptions and all waiting receives; drops unread messages. Does not wait for a handler.
    /// Idempotent.</summary>
    public void Dispose() => _owner.Remove(_queue);

    /// <summary>As <see cref="Dispose"/>, and waits for a call of the handler that is running, unless this is called inside of
    /// it.</summary>
    /// <returns>Complete when no handler runs.</returns>
    public async ValueTask DisposeAsync()
    {
        Dispose();
        if (_handler is { } handler)
        {
            await handler.DisposeAsync().ConfigureAwait(false);
        }
    }

    private void Add(ReadOnlySpan<byte> text, bool isPrefix)
    {
        ObjectDisposedException.ThrowIf(_queue.IsClosed, this);
        _owner.Index.Add(_queue, text, isPrefix);
    }
}
