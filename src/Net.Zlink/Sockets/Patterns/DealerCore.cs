using Net.Zlink.Engine;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Sockets.Routing;

namespace Net.Zlink.Sockets.Patterns;

internal sealed class DealerCore(EngineHost host) : SocketCore(host, ZmpSocketType.Dealer)
{
    private readonly Rotation<PeerLink> _rotation = new();
    private PeerLink? _sole;

    public override bool CanSend
    {
        get
        {
            using (Gate.EnterScope())
            {
                while (_rotation.Current is { } slot)
                {
                    if (slot.Peer.HasCapacity)
                    {
                        return true;
                    }

                    _rotation.Deactivate(slot);
                }

                return false;
            }
        }
    }

    public override SendStatus Route(ReadOnlySpan<byte> routeId, in OutgoingMessage message)
    {
        // Most DEALERs have one peer, and then need no lock.
        if (Volatile.Read(ref _sole) is { } sole && sole.TrySend(message) == SendStatus.Accepted)
        {
            return SendStatus.Accepted;
        }

        while (true)
        {
            RotationSlot<PeerLink>? slot;
            using (Gate.EnterScope())
            {
                slot = _rotation.Current;
                if (slot is null)
                {
                    return SendStatus.Full;
                }

                _rotation.Advance();
            }

            SendStatus status = slot.Peer.TrySend(message);
            if (status is SendStatus.Accepted or SendStatus.NoMemory)
            {
                return status;
            }

            using (Gate.EnterScope())
            {
                // Checked again under the lock: capacity in between was reported while the link was still in the rotation.
                if (slot.Peer.IsAttached && ReferenceEquals(slot.Peer.PatternState, slot) && !slot.Peer.HasCapacity)
                {
                    _rotation.Deactivate(slot);
                }
            }
        }
    }

    protected override bool Attach(PeerLink link)
    {
        IntroduceUnderLock(link);
        link.PatternState = _rotation.Add(link);
        FindSole();
        return true;
    }

    protected override void Remove(PeerLink link)
    {
        if (link.PatternState is RotationSlot<PeerLink> slot)
        {
            link.PatternState = null;
            _rotation.Remove(slot);
            FindSole();
        }
    }

    private void FindSole() => Volatile.Write(ref _sole, _rotation is { Count: 1, Current: { } slot } ? slot.Peer : null);

    protected override void OnWritable(PeerLink link) => _rotation.Activate((RotationSlot<PeerLink>)link.PatternState!);
}
