using Net.Zlink.Porting;

namespace Net.Zlink.Conformance.Tests.Sides.Zmp;

/// <summary>A side whose application receives, and sends without naming a peer.</summary>
internal abstract class DuplexSide(SideRequest request) : ReceivingSide(request)
{
    protected abstract DuplexSocket Socket { get; }

    protected sealed override ReceivingSocket Receiver => Socket;

    public override string? Send(IReadOnlyList<byte[]> parts)
    {
        using MessageBuilder message = Build(parts);
        return Socket.TrySend(message) ? null : ZlinkError.Again.ToNativeName();
    }
}
