using Net.Zlink.Sockets.Patterns;
using Net.Zlink.Sockets.Routing;

namespace Net.Zlink;

/// <summary>XPUB: as PUB, and subscriptions are received as messages: a byte 1 (subscribe) or 0 (cancel), then the topic. Also receives what XSUB peers send. Talks to SUB and XSUB.</summary>
/// <remarks>Safe for any number of threads. Subscriptions and messages are received in the order in which they came in. Which subscriptions are received depends on <see cref="XPubOptions.Verbose"/>, <see cref="XPubOptions.Verboser"/> and <see cref="XPubOptions.Manual"/>.</remarks>
public sealed class XPubSocket : DuplexSocket
{
    private readonly PublisherCore _core;

    internal XPubSocket(ZlinkContext context, XPubOptions options)
        : this(context, new PublisherCore(context.Host, context.Inproc, isExtended: true), options)
    {
    }

    private XPubSocket(ZlinkContext context, PublisherCore core, XPubOptions options)
        : base(context, core, options)
    {
        _core = core;
        Options = options;
        Watch();
    }

    /// <summary>The options.</summary>
    public new XPubOptions Options { get; }

    /// <summary>Distinct topics that subscribers hold now.</summary>
    public int TopicCount => _core.TopicCount;

    /// <summary>With <see cref="XPubOptions.Manual"/>: gives the subscriber whose notice was received last this topic. Nothing happens if it has gone.</summary>
    /// <param name="topic">Any topic, not only the one asked for.</param>
    /// <exception cref="InvalidOperationException">Manual is not set.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public void Subscribe(ReadOnlySpan<byte> topic) => Grant(topic, subscribes: true);

    /// <summary>As <see cref="Subscribe(ReadOnlySpan{byte})"/>, for a topic given as text, in UTF-8.</summary>
    /// <param name="topic">The text.</param>
    /// <exception cref="ArgumentNullException"><paramref name="topic"/> is null.</exception>
    /// <exception cref="InvalidOperationException">Manual is not set.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public void Subscribe(string topic)
    {
        ArgumentNullException.ThrowIfNull(topic);
        Subscribe(System.Text.Encoding.UTF8.GetBytes(topic));
    }

    /// <summary>With <see cref="XPubOptions.Manual"/>: takes a topic from the subscriber whose notice was received last.</summary>
    /// <param name="topic">The topic; one that it has not is none of its business.</param>
    /// <exception cref="InvalidOperationException">Manual is not set.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public void Unsubscribe(ReadOnlySpan<byte> topic) => Grant(topic, subscribes: false);

    /// <summary>As <see cref="Unsubscribe(ReadOnlySpan{byte})"/>, for a topic given as text, in UTF-8.</summary>
    /// <param name="topic">The text.</param>
    /// <exception cref="ArgumentNullException"><paramref name="topic"/> is null.</exception>
    /// <exception cref="InvalidOperationException">Manual is not set.</exception>
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
        _core.SubscriptionByteLimit = Options.ReceiveByteLimit;
        _core.NeverDrops = Options.NoDrop;
        _core.Inverts = Options.InvertMatching;
        _core.Welcome = Options.WelcomeMessage.ToArray();
        _core.OnlyFirst = Options.OnlyFirstSubscribe;
        _core.SetNoticeLimits(Options.ReceiveLimits);
        _core.ManualLastValue = Options.ManualLastValue;
        _core.Notices = new SubscriptionNotices(
            Subscribes: Options.Verbose || Options.Verboser, Cancels: Options.Verboser, Manual: Options.Manual || Options.ManualLastValue);
    }

    private void Grant(ReadOnlySpan<byte> topic, bool subscribes)
    {
        ThrowIfEnded();
        if (!_core.Grant(topic, subscribes))
        {
            throw new InvalidOperationException("Subscribe and Unsubscribe on XPUB answer subscribers in manual mode: set Options.Manual first.");
        }
    }
}
