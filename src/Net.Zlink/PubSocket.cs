using Net.Zlink.Engine;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Sockets.Patterns;
using Net.Zlink.Sockets.Zmp;

namespace Net.Zlink;

/// <summary>
/// PUB: sends each message to every subscriber with a subscription that its first part begins with. Its peers are SUB and XSUB sockets.
/// </summary>
/// <remarks>
/// Thread-safe. A subscriber at its high-water mark or a byte limit misses messages, which are counted, unless
/// <see cref="PubOptions.NoDrop"/> is set. A subscriber gets the messages that are sent after its subscription has arrived
/// (docs/patterns.md, "The first messages").
/// </remarks>
/// <example>
/// <code>
/// PubSocket publisher = context.CreatePub();
/// publisher.Bind("tcp://127.0.0.1:5556");
/// publisher.Send("price.EURUSD 1.0823"u8);
/// </code>
/// </example>
public sealed class PubSocket : ZmpSocket, IMessageSender
{
    internal PubSocket(EngineHost host, InprocRegistry inproc, PubOptions options)
        : base(new ZmpEndpoints(new PublisherCore(host, isExtended: false), inproc), options)
    {
    }

    /// <summary>The options. Each option says when a change takes effect.</summary>
    public new PubOptions Options => (PubOptions)base.Options;

    private new PublisherCore Core => (PublisherCore)base.Core;

    /// <summary>The number of distinct topics of all subscribers.</summary>
    public int TopicCount => Core.TopicCount;

    /// <inheritdoc/>
    public SendResult TrySend(ReadOnlySpan<byte> payload) => Sender.TrySend(default, payload);

    /// <inheritdoc/>
    public void Send(ReadOnlySpan<byte> payload, TimeSpan? timeout = null) =>
        Sender.Send(default, payload, OptionRange.WaitTime(timeout));

    /// <inheritdoc/>
    public ValueTask SendAsync(ReadOnlyMemory<byte> payload, CancellationToken cancellationToken = default) =>
        Sender.SendAsync(default, payload, cancellationToken);

    /// <inheritdoc/>
    public SendResult TrySend(MessageBuilder message) => Sender.TrySend(default, message);

    /// <inheritdoc/>
    public ValueTask SendAsync(MessageBuilder message, CancellationToken cancellationToken = default) =>
        Sender.SendAsync(default, message, cancellationToken);

    /// <inheritdoc/>
    public SendResult TrySend(in Message message) => Sender.TrySend(default, in message);

    /// <inheritdoc/>
    public ValueTask SendAsync(in Message message, CancellationToken cancellationToken = default) =>
        Sender.SendAsync(default, in message, cancellationToken);

    /// <summary>Publishes messages of two parts in order, a topic and a payload each, without waiting. The topic is matched once for
    /// messages that have one subscriber.</summary>
    /// <param name="topic">The first part of each message; copied.</param>
    /// <param name="payloads">The second parts; copied.</param>
    /// <returns>How many were accepted, from the first on. Fewer than all if one would have to wait.</returns>
    /// <exception cref="ObjectDisposedException">The socket is disposed. What was accepted before is sent.</exception>
    /// <exception cref="ArgumentException">A part is longer than a frame can be, or Conflate is set. Those before it were sent.</exception>
    /// <exception cref="ZlinkException">ContextTerminated. Nothing was sent.</exception>
    public int SendMany(ReadOnlySpan<byte> topic, ReadOnlySpan<ReadOnlyMemory<byte>> payloads) =>
        TopicBatch.SendMany(Core, Sender, topic, payloads);

    private protected override void ApplyOptions()
    {
        base.ApplyOptions();
        Core.PeerTopicByteLimit = Options.ReceiveByteLimit ?? 0;
        Core.NeverDrops = Options.NoDrop;
        Core.Inverts = Options.InvertMatching;
        Core.Welcome = Options.WelcomeMessage.ToArray();
    }
}
