using Net.Zlink.Conformance.Tests.Replay.Model;

namespace Net.Zlink.Conformance.Tests.Sides.Zmp;

/// <summary>XPUB.</summary>
internal sealed class XPubSide(SideRequest request) : DuplexSide(request)
{
    private XPubSocket? _socket;

    protected override DuplexSocket Socket => _socket!;

    /// <summary>In manual mode: the answer to the notice read last.</summary>
    public override void Subscribe(byte[] topic) => _socket!.Subscribe(topic);

    public override void Unsubscribe(byte[] topic) => _socket!.Unsubscribe(topic);

    protected override ZmpSocket Create(ZlinkContext context) =>
        _socket = context.CreateXPub(new XPubOptions { ReconnectAfterFault = false });

    protected override bool SetOwn(SideOption option)
    {
        switch (option.Name)
        {
            case "XPUB_VERBOSE":
                _socket!.Options.Notices = ZmpOptionNames.IsOn(option) ? SubscriptionNotices.AllSubscriptions
                    : SubscriptionNotices.FirstAndLast;
                return true;
            case "XPUB_VERBOSER":
                _socket!.Options.Notices = ZmpOptionNames.IsOn(option) ? SubscriptionNotices.All : SubscriptionNotices.FirstAndLast;
                return true;
            case "XPUB_MANUAL":
                _socket!.Options.Manual = ZmpOptionNames.IsOn(option);
                return true;
            case "XPUB_WELCOME_MSG":
                _socket!.Options.WelcomeMessage = option.Value.Bytes;
                return true;
            case "INVERT_MATCHING":
                _socket!.Options.InvertMatching = ZmpOptionNames.IsOn(option);
                return true;
            case "ONLY_FIRST_SUBSCRIBE":
                _socket!.Options.OnlyFirstSubscribe = ZmpOptionNames.IsOn(option);
                return true;
            case "SUBSCRIBE":
                Subscribe(option.Value.Bytes);
                return true;
            case "UNSUBSCRIBE":
                Unsubscribe(option.Value.Bytes);
                return true;
            default:
                return false;
        }
    }
}
