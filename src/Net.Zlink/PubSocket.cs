using Net.Zlink.Sockets.Patterns;

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
    private readonly PublisherCore _core;

    internal PubSocket(ZlinkContext context, PubOptions options)
        : this(context, new PublisherCore(context.Host, context.Inproc, isExtended: false), options)
    {
    }

    private PubSocket(ZlinkContext context, PublisherCore core, PubOptions options)
        : base(context, core, options)
    {
        _core = core;
        Options = options;
        Sender = new MessageSender(core, options);
        Watch();
    }

    /// <summary>The options. Each option says when a change takes effect.</summary>
    public new PubOptions Options { get; }

    /// <summary>The number of distinct topics of all subscribers.</summary>
    public int TopicCount => _core.TopicCount;

    internal readonly MessageSender Sender;

    /// <inheritdoc/>
    public bool TrySend(ReadOnlySpan<byte> payload) => Sender.TrySend([], payload) == ZlinkError.None;

    /// <inheritdoc/>
    public void Send(ReadOnlySpan<byte> payload, TimeSpan? timeout = null) => Sender.Send([], payload, OptionRange.WaitTime(timeout));

    /// <inheritdoc/>
    public ValueTask SendAsync(ReadOnlyMemory<byte> payload, CancellationToken cancellationToken = default) =>
        Sender.SendAsync([], payload, cancellationToken);

    /// <inheritdoc cref="DuplexSocket.SendAsync(System.Buffers.IMemoryOwner{byte}, int, CancellationToken)"/>
    public ValueTask SendAsync(System.Buffers.IMemoryOwner<byte> payload, int length, CancellationToken cancellationToken = default) =>
        Sender.SendAsync([], payload, length, cancellationToken);

    /// <inheritdoc/>
    public bool TrySend(MessageBuilder message) => Sender.TrySend([], message) == ZlinkError.None;

    /// <inheritdoc cref="DuplexSocket.Send(MessageBuilder, TimeSpan?)"/>
    public void Send(MessageBuilder message, TimeSpan? timeout = null) => Sender.Send([], message, OptionRange.WaitTime(timeout));

    /// <inheritdoc/>
    public ValueTask SendAsync(MessageBuilder message, CancellationToken cancellationToken = default) =>
        Sender.SendAsync([], message, cancellationToken);

    /// <inheritdoc/>
    public bool TrySend(in Message message) => Sender.TrySend([], in message) == ZlinkError.None;

    /// <inheritdoc cref="DuplexSocket.Send(in Message, TimeSpan?)"/>
    public void Send(in Message message, TimeSpan? timeout = null) => Sender.Send([], in message, OptionRange.WaitTime(timeout));

    /// <inheritdoc/>
    public ValueTask SendAsync(in Message message, CancellationToken cancellationToken = default) =>
        Sender.SendAsync([], in message, cancellationToken);

    /// <inheritdoc cref="DuplexSocket.SendMany(ReadOnlySpan{Message})"/>
    public int SendMany(ReadOnlySpan<Message> messages) => Sender.SendMany([], messages, out _);

    /// <inheritdoc cref="DuplexSocket.SendMany(ReadOnlySpan{ReadOnlyMemory{byte}})"/>
    public int SendMany(ReadOnlySpan<ReadOnlyMemory<byte>> payloads) => Sender.SendMany([], payloads, out _);

    /// <summary>Publishes messages of two parts in order, a topic and a payload each, without waiting. The topic is matched once for
    /// messages that have one subscriber.</summary>
    /// <param name="topic">The first part of each message; copied.</param>
    /// <param name="payloads">The second parts; copied.</param>
    /// <returns>How many were accepted, from the first on. Fewer than all if one would have to wait.</returns>
    /// <exception cref="ObjectDisposedException">The socket is disposed. What was accepted before is sent.</exception>
    /// <exception cref="ArgumentException">A part is longer than a frame can be, or Conflate is set. Those before it were sent.</exception>
    /// <exception cref="ZlinkException">ContextTerminated. Nothing was sent.</exception>
    public int SendMany(ReadOnlySpan<byte> topic, ReadOnlySpan<ReadOnlyMemory<byte>> payloads) =>
        TopicBatch.SendMany(_core, Sender, topic, payloads);

    /// <inheritdoc cref="DuplexSocket.SendManyAsync(ReadOnlyMemory{Message}, CancellationToken)"/>
    public ValueTask<int> SendManyAsync(ReadOnlyMemory<Message> messages, CancellationToken cancellationToken = default) =>
        Sender.SendManyAsync(default, messages, cancellationToken);

    /// <inheritdoc cref="DuplexSocket.SendManyAsync(ReadOnlyMemory{ReadOnlyMemory{byte}}, CancellationToken)"/>
    public ValueTask<int> SendManyAsync(ReadOnlyMemory<ReadOnlyMemory<byte>> payloads, CancellationToken cancellationToken = default) =>
        Sender.SendManyAsync(default, payloads, cancellationToken);

    private protected override void ApplyOptions()
    {
        base.ApplyOptions();
        _core.PeerTopicByteLimit = Options.ReceiveByteLimit ?? 0;
        _core.NeverDrops = Options.NoDrop;
        _core.Inverts = Options.InvertMatching;
        _core.Welcome = Options.WelcomeMessage.ToArray();
    }
}
