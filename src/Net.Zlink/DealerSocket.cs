using Net.Zlink.Sockets.Patterns;

namespace Net.Zlink;

/// <summary>
/// DEALER: sends each message to the next of its peers with capacity, and receives from all in turn. Its peers are ROUTER and DEALER
/// sockets.
/// </summary>
/// <remarks>Thread-safe. A send waits while no peer has capacity, or none is connected.</remarks>
/// <example>
/// <code>
/// DealerSocket client = context.CreateDealer();
/// client.Connect("tcp://127.0.0.1:5555");
/// await client.SendAsync("hello");
/// using Message reply = await client.ReceiveAsync();
/// </code>
/// </example>
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

    /// <summary>The options. Each option says when a change takes effect.</summary>
    public new DealerOptions Options { get; }

    private protected override void ApplyOptions()
    {
        base.ApplyOptions();
        _core.ProbesRouter = Options.ProbeRouter;
    }
}
