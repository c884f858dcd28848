using Net.Zlink.Engine;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Sockets.Patterns;
using Net.Zlink.Sockets.Routing;
using Net.Zlink.Sockets.Zmp;

namespace Net.Zlink;

/// <summary>
/// XPUB: as PUB, and its subscriptions are received as messages: a byte 1 (subscribe) or 0 (unsubscribe), then the topic. It also receives
/// what XSUB peers send. Its peers are SUB and XSUB sockets.
/// </summary>
/// <remarks>
/// <para>
/// Thread-safe. Subscriptions and messages are received in order of arrival. <see cref="XPubOptions.Notices"/> and
/// <see cref="XPubOptions.Manual"/> select which subscriptions are received.
/// </para>
/// <para>
/// The application must receive them. While <see cref="SocketOptions.ReceiveHighWaterMark"/> of them are unread, no peer is read and no new
/// topic takes effect. Subscribers in the same process are not limited. Without interest in subscriptions use PUB.
/// </para>
/// </remarks>
/// <example>
/// <code>
/// XPubSocket publisher = context.CreateXPub();
/// publisher.Bind("tcp://127.0.0.1:5556");
/// using Message notice = await publisher.ReceiveAsync();
/// bool isNew = notice.Span[0] == 1;
/// </code>
/// </example>
public sealed class XPubSocket : DuplexSocket
{
    internal XPubSocket(EngineHost host, InprocRegistry inproc, XPubOptions options)
        : base(new ZmpEndpoints(new PublisherCore(host, isExtended: true), inproc), options)
    {
    }

    /// <summary>The options. Each option says when a change takes effect.</summary>
    public new XPubOptions Options => (XPubOptions)base.Options;

    private new PublisherCore Core => (PublisherCore)base.Core;

    /// <summary>The number of distinct topics of all subscribers.</summary>
    public int TopicCount => Core.TopicCount;

    /// <summary>
    /// With <see cref="XPubOptions.Manual"/>: gives a topic to the subscriber of the notice that was received last. Does nothing if it has
    /// disconnected.
    /// </summary>
    /// <remarks>
    /// Every other receive, on any thread, changes which notice is the last. With <see cref="XPubOptions.ManualLastValue"/> the next send
    /// does too. <see cref="Subscribe(in Message, ReadOnlySpan{byte})"/> names the notice.
    /// </remarks>
    /// <param name="topic">Any topic, not only the requested one.</param>
    /// <exception cref="InvalidOperationException">Manual is not set.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public void Subscribe(ReadOnlySpan<byte> topic) => ChangeSubscription(topic, subscribes: true);

    /// <inheritdoc cref="Subscribe(ReadOnlySpan{byte})"/>
    /// <param name="topic">The topic as text, encoded in UTF-8.</param>
    /// <exception cref="ArgumentNullException"><paramref name="topic"/> is null.</exception>
    public void Subscribe(string topic)
    {
        ArgumentNullException.ThrowIfNull(topic);
        Subscribe(System.Text.Encoding.UTF8.GetBytes(topic));
    }

    /// <summary>With <see cref="XPubOptions.Manual"/>: takes a topic from the subscriber of the notice that was received last.</summary>
    /// <param name="topic">The topic. One that it does not have is ignored.</param>
    /// <exception cref="InvalidOperationException">Manual is not set.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public void Unsubscribe(ReadOnlySpan<byte> topic) => ChangeSubscription(topic, subscribes: false);

    /// <inheritdoc cref="Unsubscribe(ReadOnlySpan{byte})"/>
    /// <param name="topic">The topic as text, encoded in UTF-8.</param>
    /// <exception cref="ArgumentNullException"><paramref name="topic"/> is null.</exception>
    public void Unsubscribe(string topic)
    {
        ArgumentNullException.ThrowIfNull(topic);
        Unsubscribe(System.Text.Encoding.UTF8.GetBytes(topic));
    }

    /// <summary>
    /// With <see cref="XPubOptions.Manual"/>: gives a topic to the subscriber of a notice, whatever was received or sent since.
    /// </summary>
    /// <param name="notice">A notice that this socket received, not disposed yet, or a copy of one.</param>
    /// <param name="topic">Any topic, not only the requested one.</param>
    /// <returns>False if the subscriber has disconnected, perhaps to connect again.</returns>
    /// <exception cref="ArgumentException">The message is no notice of this socket: a peer sent it.</exception>
    /// <exception cref="InvalidOperationException">Manual is not set.</exception>
    /// <exception cref="ObjectDisposedException">The socket or the message is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public bool Subscribe(in Message notice, ReadOnlySpan<byte> topic) => IsThere(notice, out PeerLink asker)
        && ChangeSubscription(topic, subscribes: true, asker);

    /// <inheritdoc cref="Subscribe(in Message, ReadOnlySpan{byte})"/>
    /// <summary>With <see cref="XPubOptions.Manual"/>: takes a topic from the subscriber of a notice.</summary>
    /// <param name="notice">A notice that this socket received, not disposed yet, or a copy of one.</param>
    /// <param name="topic">The topic. One that it does not have is ignored.</param>
    public bool Unsubscribe(in Message notice, ReadOnlySpan<byte> topic) => IsThere(notice, out PeerLink asker)
        && ChangeSubscription(topic, subscribes: false, asker);

    /// <summary>
    /// Sends only to the subscriber of a notice, for example the topic's latest value. Works in every mode and for every topic; a SUB still
    /// applies its own filter. A message that is not sent is not counted as dropped.
    /// </summary>
    /// <param name="notice">As for <see cref="Subscribe(in Message, ReadOnlySpan{byte})"/>. It may be disposed after the call.</param>
    /// <returns>The subscriber's connection.</returns>
    /// <exception cref="ArgumentException">The message is no notice of this socket.</exception>
    /// <exception cref="ObjectDisposedException">The socket or the notice is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public PeerSender To(in Message notice)
    {
        IsThere(notice, out _);
        return new PeerSender(this, ((PeerIdentity)notice.Sender!).Slot);
    }

    /// <inheritdoc cref="PubSocket.SendMany(ReadOnlySpan{byte}, ReadOnlySpan{ReadOnlyMemory{byte}})"/>
    public int SendMany(ReadOnlySpan<byte> topic, ReadOnlySpan<ReadOnlyMemory<byte>> payloads) =>
        TopicBatch.SendMany(Core, Sender, topic, payloads);

    private protected override void ApplyOptions()
    {
        base.ApplyOptions();
        Core.PeerTopicByteLimit = Options.ReceiveByteLimit ?? 0;
        Core.NeverDrops = Options.NoDrop;
        Core.Inverts = Options.InvertMatching;
        Core.Welcome = Options.WelcomeMessage.ToArray();
        Core.OnlyFirstSubscribe = Options.OnlyFirstSubscribe;
        Core.SetNoticeLimits(Options.ReceiveLimits);
        Core.ManualLastValue = Options.ManualLastValue;
        Core.SetNotices(new NoticeRules(
            Subscribes: Options.Notices != SubscriptionNotices.FirstAndLast, Cancels: Options.Notices == SubscriptionNotices.All,
            Manual: Options.Manual || Options.ManualLastValue));
    }

    private bool ChangeSubscription(ReadOnlySpan<byte> topic, bool subscribes, PeerLink? asker = null)
    {
        ThrowIfEnded();
        bool isThere = Core.ChangeSubscription(asker, topic, subscribes, out bool isManual);
        return isManual ? isThere : throw new InvalidOperationException(
            "Subscribe and Unsubscribe on XPUB answer subscribers in manual mode: set Options.Manual first.");
    }

    /// <summary>False if the subscriber has disconnected: its requests ended with its connection.</summary>
    private bool IsThere(in Message notice, out PeerLink asker)
    {
        ThrowIfEnded();
        asker = notice.NoticeOf is PeerLink link && ReferenceEquals(link.Socket, Core) ? link
            : throw new ArgumentException(
                "This message is no notice of a subscription that this socket received: a peer sent it, or another socket received it.",
                nameof(notice));
        return ReferenceEquals(asker.Peer, notice.Sender);
    }
}
