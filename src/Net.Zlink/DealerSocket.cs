using Net.Zlink.Sockets.Patterns;

namespace Net.Zlink;

/// <summary>DEALER: sends round the peers that have room, one message each in turn, and receives fairly from all. Talks to ROUTER and
/// DEALER.</summary>
/// <remarks>Safe for any number of threads. A send waits while no peer has room, or there is none.</remarks>
public sealed class DealerSocket : DuplexSocket
{
    private readonly DealerCore _core;

    internal DealerSocket(ZlinkContext context, DealerOptions options)
        : this(context, new DealerCore(context.Host, context.Inproc), options)
    {
    }

    private DealerSocket(ZlinkContext context, DealerCore core, DealerOptions options)
        : base(context, core, options)
    {
        _core = core;
        Options = options;
        Watch();
    }

    /// <summary>The options.</summary>
    public new DealerOptions Options { get; }

    private protected override void ApplyOptions()
    {
        base.ApplyOptions();
        _core.ProbesRouter = Options.ProbeRouter;
    }
}
