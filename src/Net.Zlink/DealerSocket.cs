using Net.Zlink.Engine;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Sockets.Patterns;
using Net.Zlink.Sockets.Zmp;

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
    internal DealerSocket(EngineHost host, InprocRegistry inproc, DealerOptions options)
        : base(new ZmpEndpoints(new DealerCore(host), inproc), options)
    {
    }

    /// <summary>The options. Each option says when a change takes effect.</summary>
    public new DealerOptions Options => (DealerOptions)base.Options;

    private new DealerCore Core => (DealerCore)base.Core;

    private protected override void ApplyOptions()
    {
        base.ApplyOptions();
        Core.ProbesRouter = Options.ProbeRouter;
    }
}
