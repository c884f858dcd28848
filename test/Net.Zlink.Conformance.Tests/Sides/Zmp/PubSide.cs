using Net.Zlink.Conformance.Tests.Replay.Model;
using Net.Zlink.Porting;

namespace Net.Zlink.Conformance.Tests.Sides.Zmp;

/// <summary>PUB. It receives nothing; what it does with subscriptions it does by itself, so there is nothing for the application to let it
/// do.</summary>
internal sealed class PubSide(SideRequest request) : ZmpSide(request)
{
    private PubSocket? _socket;

    public override string? Send(IReadOnlyList<byte[]> parts)
    {
        using MessageBuilder message = Build(parts);
        return _socket!.TrySend(message) ? null : ZlinkError.Again.ToNativeName();
    }

    public override bool TryReceive(out ReceivedMessage message)
    {
        message = null!;
        return false;
    }

    public override ValueTask<ReceivedMessage> ReceiveAsync(CancellationToken cancellation)
        => new(new TaskCompletionSource<ReceivedMessage>().Task.WaitAsync(cancellation));

    protected override ZmpSocket Create(ZlinkContext context) =>
        _socket = context.CreatePub(new PubOptions { ReconnectAfterFault = false });

    protected override bool SetOwn(SideOption option)
    {
        switch (option.Name)
        {
            case "INVERT_MATCHING":
                _socket!.Options.InvertMatching = ZmpOptionNames.IsOn(option);
                return true;
            case "XPUB_WELCOME_MSG":
                _socket!.Options.WelcomeMessage = option.Value.Bytes;
                return true;
            default:
                return false;
        }
    }
}
