using System.Text;
using Net.Zlink.Sockets.Routing;

namespace Net.Zlink;

/// <summary>A publisher that stores the newest value of each topic. A subscriber that comes late gets these first, and then every later
/// value: it misses none and gets none twice.</summary>
/// <remarks>
/// <para>
/// Safe for any number of threads. A message has two parts, the topic and the value. Subscribers are ordinary SUB or XSUB sockets. One
/// whose queue is full loses messages as with any publisher, and its peer counts them as dropped. A lost value is not sent again to that
/// subscriber: it gets the newest one with the next publication of the topic, or when it connects again.
/// </para>
/// <para>
/// A subscriber that gets several matching subscriptions gets each stored value once. A subscriber whose queue cannot hold the stored
/// values is disconnected, counted as <see cref="IncompleteJoins"/>, and begins anew when it connects again.
/// </para>
/// </remarks>
/// <example>
/// <code>
/// await using var prices = new LastValuePublisher(context);
/// prices.Bind("tcp://*:5556");
/// prices.Publish("price.EUR", "1.17"u8);
/// </code>
/// </example>
public sealed class LastValuePublisher : IAsyncDisposable, IDisposable
{
    // Longer topics are rare; they cost an array each time.
    private const int StackTopicLength = 256;

    private readonly Lock _gate = new();
    private readonly (int Topics, long Bytes) _limit;
    private readonly LastValueTable _newest;
    private readonly MessageBuilder _message = new();
    private readonly Task _answering;
    private long _incompleteJoins;

    /// <summary>Makes a publisher; it listens nowhere yet.</summary>
    /// <param name="context">Makes its socket.</param>
    /// <param name="options">The options; null: the defaults.</param>
    /// <exception cref="ArgumentNullException"><paramref name="context"/> is null.</exception>
    /// <exception cref="ArgumentOutOfRangeException">A limit of the options is below 1.</exception>
    /// <exception cref="ZlinkException">TooManySockets. ContextTerminated.</exception>
    /// <exception cref="ObjectDisposedException">The context is disposed.</exception>
    public LastValuePublisher(ZlinkContext context, LastValueOptions? options = null)
    {
        ArgumentNullException.ThrowIfNull(context);
        options ??= new LastValueOptions();
        options.Validate();
        _limit = (options.MaxTopics, options.MaxBytes);
        _newest = new LastValueTable(_limit.Topics, _limit.Bytes);
        XPubOptions socketOptions = options.Socket.Copy();
        socketOptions.Manual = true;
        socketOptions.ManualLastValue = false;
        socketOptions.InvertMatching = false;
        socketOptions.NoDrop = false; // A send that waits for one subscriber would delay the first values of all others.
        socketOptions.Immediate = true; // Or the topics of an endpoint that it connects to would outlive the connection.
        Socket = context.CreateXPub(socketOptions);
        _answering = Task.Run(AnswerAsync);
    }

    /// <summary>Makes a publisher that listens for subscribers.</summary>
    /// <param name="context">Makes its socket.</param>
    /// <param name="endpoint">As for <see cref="Bind"/>; <see cref="ZlinkSocket.LastEndpoint"/> of <see cref="Socket"/> has the real
    /// port then.</param>
    /// <param name="options">The options; null: the defaults.</param>
    /// <exception cref="ArgumentNullException"><paramref name="context"/> or <paramref name="endpoint"/> is null.</exception>
    /// <exception cref="ArgumentOutOfRangeException">A limit of the options is below 1.</exception>
    /// <exception cref="ZlinkException">TooManySockets, or as for <see cref="ZlinkSocket.Bind"/>.</exception>
    /// <exception cref="ObjectDisposedException">The context is disposed.</exception>
    public LastValuePublisher(ZlinkContext context, string endpoint, LastValueOptions? options = null)
        : this(context, options) => Socket.BoundTo(endpoint);

    /// <summary>The socket, for further endpoints, statistics and events. The publisher alone sends and receives on it.</summary>
    public XPubSocket Socket { get; }

    /// <summary>Topics that have a stored value now.</summary>
    public int TopicCount
    {
        get
        {
            lock (_gate)
            {
                return _newest.Count;
            }
        }
    }

    /// <summary>Bytes that count against <see cref="LastValueOptions.MaxBytes"/> now.</summary>
    public long StoredBytes
    {
        get
        {
            lock (_gate)
            {
                return _newest.Bytes;
            }
        }
    }

    /// <summary>Subscribers that were disconnected because their queue could not hold the stored values.</summary>
    public long IncompleteJoins => Volatile.Read(ref _incompleteJoins);

    /// <summary>Listens for subscribers. May be called for several endpoints.</summary>
    /// <param name="endpoint">As for <see cref="ZlinkSocket.Bind"/>.</param>
    /// <returns>The endpoint with what the system filled in.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="endpoint"/> is null.</exception>
    /// <exception cref="ZlinkException">As for <see cref="ZlinkSocket.Bind"/>.</exception>
    /// <exception cref="ObjectDisposedException">The publisher is disposed.</exception>
    public string Bind(string endpoint) => Socket.Bind(endpoint);

    /// <summary>Stores a value as the newest of its topic and sends it to all that have subscribed. Never waits for a subscriber.</summary>
    /// <param name="topic">The topic, any bytes; copied.</param>
    /// <param name="value">The value, any bytes, also none; copied.</param>
    /// <returns>False if a limit of <see cref="LastValueOptions"/> does not allow to store it; nothing is sent then.</returns>
    /// <exception cref="ArgumentException">A part is longer than a frame can be.</exception>
    /// <exception cref="ObjectDisposedException">The publisher is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public bool TryPublish(ReadOnlySpan<byte> topic, ReadOnlySpan<byte> value)
    {
        lock (_gate)
        {
            if (!_newest.TrySet(topic, value))
            {
                return false;
            }

            Fill(topic, value);
            Socket.TrySend(_message);
            return true;
        }
    }

    /// <summary>As <see cref="TryPublish"/>, and throws where that returns false.</summary>
    /// <param name="topic">The topic, any bytes; copied.</param>
    /// <param name="value">The value, any bytes, also none; copied.</param>
    /// <exception cref="InvalidOperationException">A limit of <see cref="LastValueOptions"/> does not allow to store it.</exception>
    /// <exception cref="ArgumentException">A part is longer than a frame can be.</exception>
    /// <exception cref="ObjectDisposedException">The publisher is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public void Publish(ReadOnlySpan<byte> topic, ReadOnlySpan<byte> value)
    {
        if (!TryPublish(topic, value))
        {
            throw new InvalidOperationException(
                $"The value was not published: {TopicCount} topics are stored in {StoredBytes} bytes. "
                + $"{nameof(LastValueOptions.MaxTopics)} is {_limit.Topics}, {nameof(LastValueOptions.MaxBytes)} is "
                + $"{_limit.Bytes}. Remove topics, or raise the limit.");
        }
    }

    /// <summary>As <see cref="Publish(ReadOnlySpan{byte}, ReadOnlySpan{byte})"/>, for a topic given as text, in UTF-8.</summary>
    /// <param name="topic">The topic.</param>
    /// <param name="value">The value, any bytes, also none; copied.</param>
    /// <exception cref="ArgumentNullException"><paramref name="topic"/> is null.</exception>
    /// <exception cref="InvalidOperationException">A limit of <see cref="LastValueOptions"/> does not allow to store it.</exception>
    /// <exception cref="ArgumentException">A part is longer than a frame can be.</exception>
    /// <exception cref="ObjectDisposedException">The publisher is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public void Publish(string topic, ReadOnlySpan<byte> value)
    {
        ArgumentNullException.ThrowIfNull(topic);
        int most = Encoding.UTF8.GetMaxByteCount(topic.Length);
        Span<byte> bytes = most <= StackTopicLength ? stackalloc byte[StackTopicLength] : new byte[most];
        Publish(bytes[..Encoding.UTF8.GetBytes(topic, bytes)], value);
    }

    /// <summary>Removes the stored value of a topic: later subscribers do not get it. Nothing is sent.</summary>
    /// <param name="topic">The topic.</param>
    /// <returns>False if the topic has no stored value.</returns>
    public bool Remove(ReadOnlySpan<byte> topic)
    {
        lock (_gate)
        {
            return _newest.Remove(topic);
        }
    }

    /// <summary>As <see cref="Remove(ReadOnlySpan{byte})"/>, for a topic given as text, in UTF-8.</summary>
    /// <param name="topic">The topic.</param>
    /// <returns>False if the topic has no stored value.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="topic"/> is null.</exception>
    public bool Remove(string topic)
    {
        ArgumentNullException.ThrowIfNull(topic);
        return Remove(Encoding.UTF8.GetBytes(topic));
    }

    /// <summary>Disposes the socket and returns at once. What was published is delivered within <see cref="SocketOptions.Linger"/>.
    /// Idempotent.</summary>
    public void Dispose()
    {
        Socket.Dispose();
        lock (_gate)
        {
            _message.Dispose();
        }
    }

    /// <summary>As <see cref="Dispose"/>, and waits until no subscriber is answered any more.</summary>
    /// <returns>Complete when that is so.</returns>
    public async ValueTask DisposeAsync()
    {
        Dispose();
        await _answering.ConfigureAwait(false);
    }

    private async Task AnswerAsync()
    {
        try
        {
            await foreach (Message notice in Socket.ReceiveAllAsync().ConfigureAwait(false))
            {
                using (notice)
                {
                    if (!Answer(in notice) && TryDisconnect(in notice))
                    {
                        Interlocked.Increment(ref _incompleteJoins);
                    }
                }
            }
        }
        catch (Exception e) when (e is ObjectDisposedException or ZlinkException { Error: ZlinkError.ContextTerminated })
        {
        }
    }

    private bool TryDisconnect(in Message notice)
    {
        try
        {
            return Socket.Disconnect(in notice);
        }
        catch (ArgumentException)
        {
            return true; // The application has connected the socket to this subscriber, and the connection stays.
        }
    }

    private bool Answer(in Message notice)
    {
        if (notice.NoticeOf is null)
        {
            return true;
        }

        ReadOnlySpan<byte> prefix = notice.Span[1..];
        lock (_gate)
        {
            if (notice.UserState is not PrefixCounts held)
            {
                notice.UserState = held = new PrefixCounts();
            }

            if (notice.Span[0] == 0)
            {
                return !held.RemoveLast(prefix) || Socket.Unsubscribe(in notice, prefix);
            }

            // Values are sent, and the subscription counts, under the lock that publishing takes: nothing comes between the two.
            return held.Add(prefix) > 1 || (SendNewest(in notice, prefix, held) && Socket.Subscribe(in notice, prefix));
        }
    }

    // Under the gate. Topics that another subscription of the peer covers were sent to it already.
    private bool SendNewest(in Message notice, ReadOnlySpan<byte> prefix, PrefixCounts held)
    {
        if (!prefix.IsEmpty && held.Matches(prefix[..^1]))
        {
            return true;
        }

        for (int i = _newest.LowerBound(prefix); i < _newest.Count && _newest.TopicAt(i).StartsWith(prefix); i++)
        {
            ReadOnlySpan<byte> topic = _newest.TopicAt(i);
            if (held.Matches(topic, prefix.Length + 1))
            {
                continue;
            }

            Fill(topic, _newest.ValueAt(i));
            if (!Socket.To(in notice).TrySend(_message))
            {
                return false;
            }
        }

        return true;
    }

    // Under the gate. A refused send leaves its parts in the builder.
    private void Fill(ReadOnlySpan<byte> topic, ReadOnlySpan<byte> value)
    {
        _message.Clear();
        _message.Add(topic).Add(value);
    }
}
