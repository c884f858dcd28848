using Net.Zlink.Sockets.Patterns;

namespace Net.Zlink;

/// <summary>SUB: receives what publishers send under the topics it has subscribed. Talks to PUB and XPUB.</summary>
/// <remarks>Safe for any number of threads. A topic is a prefix of a message's first part; the empty one is everything. Topics are told to
/// every publisher, also to those that come later or come back; what a publisher sends before a topic has reached it is not received
/// (docs/patterns.md, "The first messages").</remarks>
public sealed class SubSocket : ReceivingSocket
{
    private readonly SubscriberCore _core;

    internal SubSocket(ZlinkContext context, SubOptions options)
        : this(context, new SubscriberCore(context.Host, context.Inproc, isExtended: false), options)
    {
    }

    private SubSocket(ZlinkContext context, SubscriberCore core, SubOptions options)
        : base(context, core, options)
    {
        _core = core;
        Options = options;
        Watch();
    }

    /// <summary>The options.</summary>
    public new SubOptions Options { get; }

    /// <summary>Distinct topics held.</summary>
    public int TopicCount => _core.TopicCount;

    /// <summary>Subscribes a topic. Counted: as many <see cref="Unsubscribe(ReadOnlySpan{byte})"/> take it away.</summary>
    /// <param name="topic">Any bytes; none for everything.</param>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public void Subscribe(ReadOnlySpan<byte> topic)
    {
        ThrowIfEnded();
        _core.Subscribe(topic);
    }

    /// <summary>Subscribes a topic given as text, in UTF-8.</summary>
    /// <param name="topic">The text; empty for everything.</param>
    /// <exception cref="ArgumentNullException"><paramref name="topic"/> is null.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public void Subscribe(string topic)
    {
        ArgumentNullException.ThrowIfNull(topic);
        Subscribe(System.Text.Encoding.UTF8.GetBytes(topic));
    }

    /// <summary>Takes one subscription of a topic away; unknown topics are none of its business.</summary>
    /// <remarks>When the last one is gone, nothing of the topic is received any more: messages that have come and are unread are dropped
    /// and counted (<see cref="SocketStatistics.DroppedUnreadMessages"/>), unless another topic matches them.</remarks>
    /// <param name="topic">As subscribed.</param>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public void Unsubscribe(ReadOnlySpan<byte> topic)
    {
        ThrowIfEnded();
        _core.Unsubscribe(topic);
    }

    /// <summary>Takes one subscription of a topic given as text away.</summary>
    /// <param name="topic">As subscribed.</param>
    /// <exception cref="ArgumentNullException"><paramref name="topic"/> is null.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public void Unsubscribe(string topic)
    {
        ArgumentNullException.ThrowIfNull(topic);
        Unsubscribe(System.Text.Encoding.UTF8.GetBytes(topic));
    }

    private protected override void ApplyOptions()
    {
        base.ApplyOptions();
        _core.Inverts = Options.InvertMatching;
    }
}
