using Net.Zlink.Conformance.Tests.Replay.Model;

namespace Net.Zlink.Conformance.Tests.Sides.Zmp;

/// <summary>DEALER.</summary>
internal sealed class DealerSide(SideRequest request) : DuplexSide(request)
{
    private DealerSocket? _socket;

    protected override DuplexSocket Socket => _socket!;

    protected override ZmpSocket Create(ZlinkContext context) =>
        _socket = context.CreateDealer(new DealerOptions { ReconnectAfterFault = false });

    protected override bool SetOwn(SideOption option)
    {
        if (option.Name is not "PROBE_ROUTER")
        {
            return false;
        }

        _socket!.Options.ProbeRouter = ZmpOptionNames.IsOn(option);
        return true;
    }
}
