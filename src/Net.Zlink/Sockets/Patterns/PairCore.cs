using Net.Zlink.Engine;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Links;

namespace Net.Zlink.Sockets.Patterns;

/// <summary>PAIR accepts a new peer when no message of the lost one is unread.</summary>
internal sealed class PairCore(EngineHost host) : SocketCore(host, ZmpSocketType.Pair)
{
    private PeerLink? _last;

    public bool ReplacesSilent { get; set; } = true;

    public override bool CanSend => Only is { HasCapacity: true };

    public override SendStatus Route(ReadOnlySpan<byte> routeId, in OutgoingMessage message)
    {
        SendStatus status = Only?.TrySend(message) ?? SendStatus.Full;
        return status == SendStatus.Closed ? SendStatus.Full : status;
    }

    public override string RefusalReason(PeerIdentity? peer) => Only is null && Receive.IsReadable
        ? "messages of this PAIR's last peer are unread: receive them, then connect again"
        : "a PAIR has at most one peer, and this one has a peer";

    protected override bool Attach(PeerLink link)
    {
        if (Only is not null || (_last is not null && !Receive.IsDrained(_last.Lane)))
        {
            return false;
        }

        _last = link;
        return true;
    }

    protected override PeerLink? HolderFor(PeerIdentity newcomer) => ReplacesSilent ? Only : null;
}
