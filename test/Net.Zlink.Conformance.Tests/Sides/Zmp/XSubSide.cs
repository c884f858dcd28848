using Net.Zlink.Conformance.Tests.Replay.Model;

namespace Net.Zlink.Conformance.Tests.Sides.Zmp;

/// <summary>XSUB: subscribing is sending.</summary>
internal sealed class XSubSide(SideRequest request) : DuplexSide(request)
{
    private XSubSocket? _socket;

    protected override DuplexSocket Socket => _socket!;

    protected override ZmpSocket Create(ZlinkContext context) =>
        _socket = context.CreateXSub(new XSubOptions { ReconnectAfterFault = false });

    protected override bool SetOwn(SideOption option)
    {
        if (option.Name is not "ONLY_FIRST_SUBSCRIBE")
        {
            return false;
        }

        _socket!.Options.OnlyFirstSubscribe = ZmpOptionNames.IsOn(option);
        return true;
    }
}
