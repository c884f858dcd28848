using Net.Zlink.Conformance.Tests.Replay.Model;

namespace Net.Zlink.Conformance.Tests.Sides.Zmp;

/// <summary>XSUB: subscribing is sending.</summary>
internal sealed class XSubSide(SideRequest request) : DuplexSide(request)
{
    private XSubSocket? _socket;

    protected override DuplexSocket Socket => _socket!;

    protected override ZmpSocket Create(ZlinkContext context) =>
        _socket = context.CreateXSub(new XSubOptions { ReconnectAfterFault = false });

    // Ours has no such option: a message of several parts is data.
    protected override bool SetOwn(SideOption option) => option.Name is "ONLY_FIRST_SUBSCRIBE";
}
