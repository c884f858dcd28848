using Net.Zlink.Sockets.Patterns;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Sockets.Routing;

namespace Net.Zlink;

/// <summary>XPUB: as PUB, and subscriptions are received as messages: a byte 1 (subscribe) or 0 (cancel), then the topic. Also receives
/// what XSUB peers send. Talks to SUB and XSUB.</summary>
/// <remarks>Safe for any number of threads. Subscriptions and messages are received in the order in which they came in. Which subscriptions
/// are received depends on <see cref="XPubOptions.Verbose"/>, <see cref="XPubOptions.Verboser"/> and <see cref="XPubOptions.Manual"/>.
/// Somebody has to receive them: once <see cref="SocketOptions.ReceiveHighWaterMark"/> of them are unread, no peer is read any more, and
/// new topics are not heard, except those of subscribers in the same process, which come in without end. Who does not want them uses
/// PUB.</remarks>
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

    /// <summary>With <see cref="XPubOptions.Manual"/>: gives the subscriber whose notice was received last this topic, as natively. Nothing
    /// happens if it has gone.</summary>
    /// <remarks>Which notice that was another receive changes, a batch's too, on any thread; and with
    /// <see cref="XPubOptions.ManualLastValue"/> the next send ends its turn. <see cref="Subscribe(in Message, ReadOnlySpan{byte})"/> names
    /// the notice.</remarks>
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

    /// <summary>With <see cref="XPubOptions.Manual"/>: gives the subscriber whose notice this is a topic, whatever was received or sent
    /// since.</summary>
    /// <param name="notice">A notice that this socket received, not disposed yet, or a copy of one.</param>
    /// <param name="topic">Any topic, not only the one asked for.</param>
    /// <returns>False if the subscriber has gone, or has connected anew since.</returns>
    /// <exception cref="ArgumentException">The message is no notice of this socket: a peer sent it.</exception>
    /// <exception cref="InvalidOperationException">Manual is not set.</exception>
    /// <exception cref="ObjectDisposedException">The socket or the message is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public bool Subscribe(in Message notice, ReadOnlySpan<byte> topic) => IsThere(notice, out PeerLink asker)
        && Grant(topic, subscribes: true, asker);

    /// <summary>With <see cref="XPubOptions.Manual"/>: takes a topic from the subscriber whose notice this is.</summary>
    /// <param name="notice">As for <see cref="Subscribe(in Message, ReadOnlySpan{byte})"/>.</param>
    /// <param name="topic">The topic; one that it has not is none of its business.</param>
    /// <returns>False if the subscriber has gone, or has connected anew since.</returns>
    /// <exception cref="ArgumentException">The message is no notice of this socket: a peer sent it.</exception>
    /// <exception cref="InvalidOperationException">Manual is not set.</exception>
    /// <exception cref="ObjectDisposedException">The socket or the message is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public bool Unsubscribe(in Message notice, ReadOnlySpan<byte> topic) => IsThere(notice, out PeerLink asker)
        && Grant(topic, subscribes: false, asker);

    /// <summary>Sends a message of one part to the subscriber alone whose notice this is: what is the newest of its topic, for one. In any
    /// mode, and whatever it has subscribed to; a SUB then receives only what it wants.</summary>
    /// <param name="notice">As for <see cref="Subscribe(in Message, ReadOnlySpan{byte})"/>.</param>
    /// <param name="payload">Any bytes, also none; copied.</param>
    /// <returns>False if the subscriber has gone, or is at its high-water mark; nothing is counted as dropped then.</returns>
    /// <exception cref="ArgumentException">The message is no notice of this socket: a peer sent it. Or the payload is longer than a frame
    /// can be.</exception>
    /// <exception cref="ObjectDisposedException">The socket or the notice is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public bool TrySendTo(in Message notice, ReadOnlySpan<byte> payload) => IsThere(notice, out PeerLink asker)
        && MessageSender.TrySendTo(asker, payload);

    /// <summary>As <see cref="TrySendTo(in Message, ReadOnlySpan{byte})"/>, for a message of several parts, whole or not at all.</summary>
    /// <param name="notice">As for <see cref="Subscribe(in Message, ReadOnlySpan{byte})"/>.</param>
    /// <param name="message">The message, of at least one part; empty when it was accepted.</param>
    /// <returns>False if the subscriber has gone, or is at its high-water mark; nothing is counted as dropped then.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="message"/> is null.</exception>
    /// <exception cref="ArgumentException">The first message is no notice of this socket: a peer sent it. Or the other has no part, or
    /// several with Conflate.</exception>
    /// <exception cref="ObjectDisposedException">The socket, the notice or the message is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public bool TrySendTo(in Message notice, MessageBuilder message) => IsThere(notice, out PeerLink asker)
        && Sender.TrySendTo(asker, message);

    /// <summary>As <see cref="TrySendTo(in Message, ReadOnlySpan{byte})"/>, for a message that was received or built: it is passed on
    /// without a copy of long parts. A copy of one message can go to any number of subscribers.</summary>
    /// <param name="notice">As for <see cref="Subscribe(in Message, ReadOnlySpan{byte})"/>.</param>
    /// <param name="message">The message; accepted, it is ended.</param>
    /// <returns>False if the subscriber has gone, or is at its high-water mark; nothing is counted as dropped then.</returns>
    /// <exception cref="ArgumentException">The first message is no notice of this socket: a peer sent it. Or the other has several parts
    /// with Conflate.</exception>
    /// <exception cref="InvalidOperationException">There is no message in the second one.</exception>
    /// <exception cref="ObjectDisposedException">The socket, the notice or the message is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public bool TrySendTo(in Message notice, in Message message) => IsThere(notice, out PeerLink asker)
        && Sender.TrySendTo(asker, in message);

    private protected override void ApplyOptions()
    {
        base.ApplyOptions();
        _core.PeerTopicByteLimit = Options.ReceiveByteLimit ?? 0;
        _core.NeverDrops = Options.NoDrop;
        _core.Inverts = Options.InvertMatching;
        _core.Welcome = Options.WelcomeMessage.ToArray();
        _core.OnlyFirst = Options.OnlyFirstSubscribe;
        _core.SetNoticeLimits(Options.ReceiveLimits);
        _core.ManualLastValue = Options.ManualLastValue;
        _core.Notices = new SubscriptionNotices(
            Subscribes: Options.Verbose || Options.Verboser, Cancels: Options.Verboser, Manual: Options.Manual || Options.ManualLastValue);
    }

    /// <returns>False if the subscriber has gone.</returns>
    private bool Grant(ReadOnlySpan<byte> topic, bool subscribes, PeerLink? asker = null)
    {
        ThrowIfEnded();
        bool isThere = _core.Grant(asker, topic, subscribes, out bool isManual);
        return isManual ? isThere : throw new InvalidOperationException(
            "Subscribe and Unsubscribe on XPUB answer subscribers in manual mode: set Options.Manual first.");
    }

    /// <summary>Whose notice it is. False if he has gone, be it that he has come again since: what he asked for went with his
    /// connection.</summary>
    private bool IsThere(in Message notice, out PeerLink asker)
    {
        ThrowIfEnded();
        asker = notice.NoticeOf is PeerLink link && ReferenceEquals(link.Socket, _core) ? link
            : throw new ArgumentException(
                "This message is no notice of a subscription that this socket received: a peer sent it, or another socket received it.",
                nameof(notice));
        return ReferenceEquals(asker.Peer, notice.Sender);
    }
}
