using Net.Zlink.Engine;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Sockets.Patterns;
using Net.Zlink.Sockets.Zmp;

namespace Net.Zlink;

/// <summary>SUB: receives the messages that begin with a topic it has subscribed to. Its peers are PUB and XPUB sockets.</summary>
/// <remarks>
/// Thread-safe. A topic is a prefix of a message's first part; the empty topic matches all. Every publisher gets the topics, also one that
/// connects later or again. What a publisher sends before a topic has reached it is not received (docs/patterns.md, "The first messages").
/// </remarks>
/// <example>
/// <code>
/// SubSocket subscriber = context.CreateSub();
/// subscriber.Subscribe("price.");
/// subscriber.Connect("tcp://127.0.0.1:5556");
/// using Message message = await subscriber.ReceiveAsync();
/// </code>
/// </example>
public sealed class SubSocket : ReceivingSocket
{
    internal SubSocket(EngineHost host, InprocRegistry inproc, SubOptions options)
        : base(new ZmpEndpoints(new SubscriberCore(host, isExtended: false), inproc), options)
    {
    }

    /// <summary>The options. Each option says when a change takes effect.</summary>
    public new SubOptions Options => (SubOptions)base.Options;

    private new SubscriberCore Core => (SubscriberCore)base.Core;

    /// <summary>The number of distinct topics.</summary>
    public int TopicCount => Core.TopicCount;

    /// <summary>Subscribes to a topic. Each call needs its own <see cref="Unsubscribe(ReadOnlySpan{byte})"/>.</summary>
    /// <param name="topic">Any bytes. Empty: everything.</param>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public void Subscribe(ReadOnlySpan<byte> topic)
    {
        ThrowIfEnded();
        Core.Subscribe(topic);
    }

    /// <inheritdoc cref="Subscribe(ReadOnlySpan{byte})"/>
    /// <param name="topic">The topic as text, encoded in UTF-8. Empty: everything.</param>
    /// <exception cref="ArgumentNullException"><paramref name="topic"/> is null.</exception>
    public void Subscribe(string topic)
    {
        ArgumentNullException.ThrowIfNull(topic);
        Subscribe(System.Text.Encoding.UTF8.GetBytes(topic));
    }

    /// <summary>Removes one subscription of a topic. Unknown topics are ignored.</summary>
    /// <remarks>
    /// After the last one no message of the topic is received. Its unread messages are dropped and counted
    /// (<see cref="SocketStatistics.DroppedUnreadMessages"/>), unless another topic matches them.
    /// </remarks>
    /// <param name="topic">The topic.</param>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public void Unsubscribe(ReadOnlySpan<byte> topic)
    {
        ThrowIfEnded();
        Core.Unsubscribe(topic);
    }

    /// <inheritdoc cref="Unsubscribe(ReadOnlySpan{byte})"/>
    /// <param name="topic">The topic as text.</param>
    /// <exception cref="ArgumentNullException"><paramref name="topic"/> is null.</exception>
    public void Unsubscribe(string topic)
    {
        ArgumentNullException.ThrowIfNull(topic);
        Unsubscribe(System.Text.Encoding.UTF8.GetBytes(topic));
    }

    private protected override void ApplyOptions()
    {
        base.ApplyOptions();
        Core.Inverts = Options.InvertMatching;
    }
}
