using Net.Zlink.Engine;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Sockets.Patterns;
using Net.Zlink.Sockets.Zmp;

namespace Net.Zlink;

/// <summary>
/// XSUB: as SUB, but topics are sent as messages (a byte 1 or 0, then the topic), other messages go to all publishers, and received
/// messages are not filtered. Its peers are PUB and XPUB sockets.
/// </summary>
/// <remarks>
/// Thread-safe. Topics are counted, and sent to publishers that connect later, as for SUB. They are sent beyond the high-water mark. Each
/// topic is a message of one part. A message of several parts is data, of which a publisher over a wire takes parts that begin with 1 or 0
/// as topics all the same.
/// </remarks>
/// <example>
/// <code>
/// XSubSocket subscriber = context.CreateXSub();
/// subscriber.Connect("tcp://127.0.0.1:5556");
/// subscriber.Send("\u0001price."u8); // 1 and the topic
/// using Message message = await subscriber.ReceiveAsync();
/// </code>
/// </example>
public sealed class XSubSocket : DuplexSocket
{
    internal XSubSocket(EngineHost host, InprocRegistry inproc, XSubOptions options)
        : base(new ZmpEndpoints(new SubscriberCore(host, isExtended: true), inproc), options)
    {
    }

    /// <summary>The options. Each option says when a change takes effect.</summary>
    public new XSubOptions Options => (XSubOptions)base.Options;

    private new SubscriberCore Core => (SubscriberCore)base.Core;

    /// <summary>The number of distinct topics.</summary>
    public int TopicCount => Core.TopicCount;
}
