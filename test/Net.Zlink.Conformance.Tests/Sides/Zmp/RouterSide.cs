using Net.Zlink.Conformance.Tests.Replay.Model;
using Net.Zlink.Porting;

namespace Net.Zlink.Conformance.Tests.Sides.Zmp;

/// <summary>ROUTER: the peer's id is the first part of what is sent and received.</summary>
internal sealed class RouterSide(SideRequest request) : ReceivingSide(request)
{
    private RouterSocket? _socket;
    private byte[]? _nextName;

    protected override ReceivingSocket Receiver => _socket!;

    /// <summary>CONNECT_ROUTING_ID names the peer of the next connect, and of that one only.</summary>
    public override void Connect(string endpoint)
    {
        byte[]? name = _nextName;
        _nextName = null;
        if (name is null)
        {
            base.Connect(endpoint);
        }
        else
        {
            _socket!.Connect(endpoint, name);
        }
    }

    public override string? Send(IReadOnlyList<byte[]> parts)
    {
        if (parts.Count == 1)
        {
            return null; // An id without a message: natively dropped, with success. Our API has no call for it.
        }

        using MessageBuilder message = Build(parts.Skip(1));
        return _socket!.To(parts[0]).TrySend(message) ? null : ZlinkError.Again.ToNativeName();
    }

    protected override ZmpSocket Create(ZlinkContext context) =>
        _socket = context.CreateRouter(new RouterOptions { OnDuplicateRoutingId = DuplicateRoutingId.Refuse, ReconnectAfterFault = false });

    protected override IReadOnlyList<byte[]> PartsOf(in Message message) => [message.RoutingId.ToArray(), .. message.ToArrays()];

    protected override bool SetOwn(SideOption option)
    {
        switch (option.Name)
        {
            case "PROBE_ROUTER":
                _socket!.Options.ProbeRouter = ZmpOptionNames.IsOn(option);
                return true;
            case "ROUTER_HANDOVER":
                _socket!.Options.OnDuplicateRoutingId = ZmpOptionNames.IsOn(option) ? DuplicateRoutingId.Replace
                    : DuplicateRoutingId.Refuse;
                return true;
            case "CONNECT_ROUTING_ID":
                _nextName = option.Value.Bytes;
                return true;
            default:
                return false;
        }
    }
}
