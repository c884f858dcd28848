using Net.Zlink.Engine;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Pipes;

namespace Net.Zlink.Sockets.Patterns;

/// <summary>PAIR: one peer at a time; the first wins, and a place is free again as soon as nothing of the lost peer is unread.</summary>
internal sealed class PairCore(EngineHost host, InprocRegistry inproc) : SocketCore(host, inproc, ZmpSocketType.Pair)
{
    private Pipe? _pipe;
    private Pipe? _last;

    /// <summary>A peer that is silent leaves its place to a newcomer.</summary>
    public bool ReplacesSilent { get; set; } = true;

    public override bool CanSend => Volatile.Read(ref _pipe) is { HasRoom: true };

    public override SendStatus Route(ReadOnlySpan<byte> routeId, in OutgoingMessage message)
    {
        // Without a peer, or with one that is just leaving, a send waits for the next.
        SendStatus status = Volatile.Read(ref _pipe)?.TrySend(message) ?? SendStatus.Full;
        return status == SendStatus.Closed ? SendStatus.Full : status;
    }

    public override string WhyNoPlace(PeerIdentity? peer) => Volatile.Read(ref _pipe) is null && Receive.IsReadable
        ? "what the last peer of this PAIR sent is not received yet: receive it, then connect again"
        : "a PAIR talks to one peer, and has one";

    protected override bool Attach(Pipe pipe)
    {
        if (_pipe is not null || (_last is not null && !Receive.IsDrained(_last.Lane)))
        {
            return false;
        }

        Volatile.Write(ref _pipe, pipe);
        _last = pipe;
        return true;
    }

    protected override WirePipe? HolderFor(PeerIdentity newcomer) => ReplacesSilent ? _pipe as WirePipe : null;

    protected override void Remove(Pipe pipe) => Volatile.Write(ref _pipe, null);
}
