namespace Net.Zlink.Conformance.Tests.Sides.Zmp;

/// <summary>PAIR.</summary>
internal sealed class PairSide(SideRequest request) : DuplexSide(request)
{
    private PairSocket? _socket;

    protected override DuplexSocket Socket => _socket!;

    protected override ZmpSocket Create(ZlinkContext context) =>
        _socket = context.CreatePair(new PairOptions { ReplaceSilentPeer = false, ReconnectAfterFault = false });
}
