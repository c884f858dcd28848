using Net.Zlink.Conformance.Tests.Replay.Model;

namespace Net.Zlink.Conformance.Tests.Sides.Zmp;

/// <summary>SUB.</summary>
internal sealed class SubSide(SideRequest request) : ReceivingSide(request)
{
    private SubSocket? _socket;

    protected override ReceivingSocket Receiver => _socket!;

    public override void Subscribe(byte[] topic) => _socket!.Subscribe(topic);

    public override void Unsubscribe(byte[] topic) => _socket!.Unsubscribe(topic);

    /// <summary>A SUB of ours has no send.</summary>
    public override string? Send(IReadOnlyList<byte[]> parts) => "ENOTSUP";

    protected override ZmpSocket Create(ZlinkContext context) =>
        _socket = context.CreateSub(new SubOptions { ReconnectAfterFault = false });

    protected override bool SetOwn(SideOption option)
    {
        switch (option.Name)
        {
            case "SUBSCRIBE":
                Subscribe(option.Value.Bytes);
                return true;
            case "UNSUBSCRIBE":
                Unsubscribe(option.Value.Bytes);
                return true;
            case "INVERT_MATCHING":
                _socket!.Options.InvertMatching = ZmpOptionNames.IsOn(option);
                return true;
            default:
                return false;
        }
    }
}
