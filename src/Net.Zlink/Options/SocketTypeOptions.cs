namespace Net.Zlink;

/// <summary>Options of a <see cref="PairSocket"/>.</summary>
public sealed class PairOptions : ZmpSocketOptions
{
    /// <summary>A second peer that connects replaces the first one if that is silent, by the rule of
    /// <see cref="DuplicateRoutingId.ReplaceSilent"/>. Default true; false: the second one is refused. Acts at once, on peers that come
    /// afterwards.</summary>
    public bool ReplaceSilentPeer { get; set => Set(ref field, value); } = true;
}

/// <summary>Options of a <see cref="DealerSocket"/>.</summary>
public sealed class DealerOptions : ZmpSocketOptions
{
    /// <summary>
    /// Send each new peer an empty message first, by which a ROUTER learns this socket's routing id. Default false. Acts at once, for later
    /// peers.
    /// </summary>
    public bool ProbeRouter { get; set => Set(ref field, value); }

    /// <summary>
    /// Keep only the newest message of each link, in both directions. High-water marks do not apply, and messages have one part. Default
    /// false. For endpoints made afterwards.
    /// </summary>
    public bool Conflate { get => IsConflating; set => IsConflating = value; }
}

/// <summary>Options of a <see cref="RouterSocket"/>.</summary>
public sealed class RouterOptions : ZmpSocketOptions
{
    /// <summary>
    /// Sends fail for an unknown peer and wait for a full one, instead of dropping and counting the message. Default false. Acts at once.
    /// </summary>
    public bool Mandatory { get; set => Set(ref field, value); }

    /// <summary>What happens to a peer that announces a routing id in use. Default <see cref="DuplicateRoutingId.ReplaceSilent"/>. Acts at
    /// once, on peers that come afterwards.</summary>
    /// <exception cref="ArgumentOutOfRangeException">On setting: the value is none of the enum's.</exception>
    public DuplicateRoutingId OnDuplicateRoutingId { get; set => Set(ref field, OptionRange.Defined(value)); }

    /// <summary>Send each new peer an empty message first. Default false. Acts at once, for later peers.</summary>
    public bool ProbeRouter { get; set => Set(ref field, value); }
}

/// <summary>Options of a <see cref="PubSocket"/>.</summary>
public sealed class PubOptions : ZmpSocketOptions
{
    /// <summary>
    /// While a matching subscriber is at its high-water mark nothing is sent to any subscriber: sends wait instead of dropping. Several
    /// sending threads may each exceed a mark by one message. Default false. Acts at once.
    /// </summary>
    public bool NoDrop { get; set => Set(ref field, value); }

    /// <summary>Send to the subscribers whose topics do not match. Subscribers must set it too. Default false. Acts at once.</summary>
    public bool InvertMatching { get; set => Set(ref field, value); }

    /// <summary>
    /// Keep only the newest message of each subscriber. Its high-water mark does not apply, and messages have one part. Default false. For
    /// endpoints made afterwards.
    /// </summary>
    public bool Conflate { get => IsConflating; set => IsConflating = value; }

    /// <summary>
    /// A message that each new subscriber gets first. A SUB applies its filter to it. Empty (default): none. Acts at once, for later
    /// subscribers.
    /// </summary>
    public ReadOnlyMemory<byte> WelcomeMessage { get; set => Set(ref field, value.ToArray()); }
}

/// <summary>Options of an <see cref="XPubSocket"/>.</summary>
public sealed class XPubOptions : ZmpSocketOptions
{
    /// <inheritdoc cref="PubOptions.NoDrop"/>
    public bool NoDrop { get; set => Set(ref field, value); }

    /// <inheritdoc cref="PubOptions.InvertMatching"/>
    public bool InvertMatching { get; set => Set(ref field, value); }

    /// <inheritdoc cref="PubOptions.WelcomeMessage"/>
    public ReadOnlyMemory<byte> WelcomeMessage { get; set => Set(ref field, value.ToArray()); }

    /// <summary>Which subscriptions are received. Default: a topic's first and last. Acts at once.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is not defined.</exception>
    public SubscriptionNotices Notices { get; set => Set(ref field, OptionRange.Defined(value)); }

    /// <summary>
    /// Subscriptions are received without effect. <see cref="XPubSocket.Subscribe(in Message, ReadOnlySpan{byte})"/> and
    /// <see cref="XPubSocket.Unsubscribe(in Message, ReadOnlySpan{byte})"/>, or their forms without a notice, take effect instead. Default
    /// false. Acts at once: set it before the first subscriber.
    /// </summary>
    public bool Manual { get; set => Set(ref field, value); }

    /// <summary>
    /// As <see cref="Manual"/>, and the first message after a received notice goes to its subscriber alone, as in the native core. Default
    /// false. Acts at once.
    /// </summary>
    /// <remarks>
    /// For one thread that answers each notice at once: a message published in between counts as the answer and reaches no other
    /// subscriber. Otherwise use <see cref="Manual"/> with <see cref="XPubSocket.Subscribe(in Message, ReadOnlySpan{byte})"/> and
    /// <see cref="XPubSocket.To(in Message)"/>.
    /// </remarks>
    public bool ManualLastValue { get; set => Set(ref field, value); }

    /// <summary>
    /// A received message whose first part is no subscription is all data. Default false: every part is checked. Acts at once.
    /// </summary>
    public bool OnlyFirstSubscribe { get; set => Set(ref field, value); }
}

/// <summary>
/// Options of a <see cref="SubSocket"/>. <see cref="SocketOptions.Linger"/> is zero by default, because a subscriber has nothing to
/// deliver.
/// </summary>
public sealed class SubOptions : ZmpSocketOptions
{
    /// <summary>Creates options with their defaults.</summary>
    public SubOptions() => Linger = TimeSpan.Zero;

    /// <summary>Receive what does not match the topics. Publishers must set it too. Default false. Acts at once.</summary>
    public bool InvertMatching { get; set => Set(ref field, value); }

    /// <summary>
    /// Keep only the newest message of each publisher. The high-water mark does not apply, and messages have one part. Default false. For
    /// endpoints made afterwards.
    /// </summary>
    public bool Conflate { get => IsConflating; set => IsConflating = value; }
}

/// <summary>Options of an <see cref="XSubSocket"/>. <see cref="SocketOptions.Linger"/> is zero by default.</summary>
public sealed class XSubOptions : ZmpSocketOptions
{
    /// <summary>Creates options with their defaults.</summary>
    public XSubOptions() => Linger = TimeSpan.Zero;
}

/// <summary>
/// What a <see cref="RouterSocket"/> does with a peer whose routing id another peer has: <see cref="RouterOptions.OnDuplicateRoutingId"/>.
/// </summary>
public enum DuplicateRoutingId
{
    /// <summary>The earlier peer gets a HEARTBEAT, and the newcomer waits for the answer: <see cref="ZmpSocketOptions.HeartbeatTimeout"/>,
    /// or 2 s if neither that nor an interval is set. If the earlier peer answers, the newcomer's connection is closed. If it is silent,
    /// its own connection is closed, and the newcomer gets the id.</summary>
    /// <remarks>
    /// For accepted connections; a connection that this side made keeps its id. A client that knows an id can take it from a peer that is
    /// silent
    /// for that time. On networks that are not trusted use <see cref="Refuse"/>, or tls with client certificates: then only a newcomer with
    /// the same subject waits (docs/protocol.md section 15.3).
    /// </remarks>
    ReplaceSilent,

    /// <summary>The new connection is closed, and its socket reconnects until the id is free.</summary>
    /// <remarks>
    /// The refused peer learns of it one round trip after it began to write. What it has written by then is lost (docs/protocol.md section
    /// 15.3).
    /// </remarks>
    Refuse,

    /// <summary>
    /// The new peer gets the id, and the earlier connection is closed. If this side made that connection, it reconnects when the id is
    /// free.
    /// </summary>
    Replace,

    /// <summary>
    /// Both stay. A message for the id goes to the newest connection. When that ends, the one before it gets the messages.
    /// </summary>
    /// <remarks>
    /// <see cref="RouterSocket.To(in Message)"/> answers on the connection of a message. A name
    /// for <see cref="RouterSocket.Connect(string, RoutingId)"/> must still be free.
    /// </remarks>
    Share,
}

/// <summary>Which subscriptions an <see cref="XPubSocket"/> receives as notices.</summary>
public enum SubscriptionNotices
{
    /// <summary>A topic's first subscription and its last unsubscription.</summary>
    FirstAndLast = 0,

    /// <summary>Every subscription, and a topic's last unsubscription.</summary>
    AllSubscriptions = 1,

    /// <summary>Every subscription and every unsubscription.</summary>
    All = 2,
}
