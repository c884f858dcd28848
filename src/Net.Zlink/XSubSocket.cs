using Net.Zlink.Sockets.Patterns;

namespace Net.Zlink;

/// <summary>XSUB: as SUB, but topics are sent as messages (a byte 1 or 0, then the topic), other messages go to all publishers, and nothing
/// is filtered on receipt. Talks to PUB and XPUB.</summary>
/// <remarks>
/// Safe for any number of threads. Topics are counted and told to publishers that come later, as for SUB; those that are there are told
/// whatever the send high-water mark says. A message of topics and data together is dropped at the mark like any other, and what it says of
/// topics is then told to the next connection only: send them apart.
/// </remarks>
public sealed class XSubSocket : DuplexSocket
{
    private readonly SubscriberCore _core;

    internal XSubSocket(ZlinkContext context, XSubOptions options)
        : this(context, new SubscriberCore(context.Host, context.Inproc, isExtended: true), options)
    {
    }

    private XSubSocket(ZlinkContext context, SubscriberCore core, XSubOptions options)
        : base(context, core, options)
    {
        _core = core;
        Options = options;
        Watch();
    }

    /// <summary>The options.</summary>
    public new XSubOptions Options { get; }

    /// <summary>Distinct topics held.</summary>
    public int TopicCount => _core.TopicCount;

    private protected override void ApplyOptions()
    {
        base.ApplyOptions();
        _core.OnlyFirst = Options.OnlyFirstSubscribe;
    }
}
