using System.Diagnostics;
using Net.Zlink.Engine;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Links;

namespace Net.Zlink.Sockets.Patterns;

internal sealed class DealerCore(EngineHost host) : SocketCore(host, ZmpSocketType.Dealer)
{
    private readonly Rotation<PeerLink> _rotation = new();

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
        if (Only?.TrySend(message) == SendStatus.Accepted)
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
        return true;
    }

    protected override void Remove(PeerLink link)
    {
        if (link.PatternState is RotationSlot<PeerLink> slot)
        {
            link.PatternState = null;
            _rotation.Remove(slot);
        }
    }

    protected override void OnWritable(PeerLink link) => _rotation.Activate((RotationSlot<PeerLink>)link.PatternState!);
}

/// <summary>
/// Active peers stand in front of full ones, and a peer changes sides by a swap. The order is that of attachment until a peer fills up or
/// leaves; then the last active peer takes its position, as in the native core.
/// </summary>
internal sealed class Rotation<TPeer>
    where TPeer : class
{
    private readonly List<RotationSlot<TPeer>> _slots = [];
    private int _current;

    public int Count => _slots.Count;

    public int ActiveCount { get; private set; }

    public RotationSlot<TPeer>? Current => ActiveCount == 0 ? null : _slots[_current];

    public RotationSlot<TPeer> Add(TPeer peer)
    {
        var slot = new RotationSlot<TPeer>(peer, _slots.Count);
        _slots.Add(slot);
        Activate(slot);
        return slot;
    }

    public bool IsActive(RotationSlot<TPeer> slot) => (uint)slot.Index < (uint)ActiveCount;

    public void Activate(RotationSlot<TPeer> slot)
    {
        Debug.Assert(slot.Index >= 0 && _slots[slot.Index] == slot, "A slot of another rotation, or removed.");
        if (!IsActive(slot))
        {
            Swap(slot.Index, ActiveCount++);
        }
    }

    public void Deactivate(RotationSlot<TPeer> slot)
    {
        Debug.Assert(slot.Index >= 0 && _slots[slot.Index] == slot, "A slot of another rotation, or removed.");
        if (IsActive(slot))
        {
            Swap(slot.Index, --ActiveCount);
            WrapAround();
        }
    }

    public void Remove(RotationSlot<TPeer> slot)
    {
        Deactivate(slot);
        Swap(slot.Index, _slots.Count - 1);
        _slots.RemoveAt(_slots.Count - 1);
        slot.Index = -1;
    }

    public void Advance()
    {
        _current++;
        WrapAround();
    }

    private void WrapAround()
    {
        if (_current >= ActiveCount)
        {
            _current = 0;
        }
    }

    private void Swap(int a, int b)
    {
        (_slots[a], _slots[b]) = (_slots[b], _slots[a]);
        _slots[a].Index = a;
        _slots[b].Index = b;
    }
}

internal sealed class RotationSlot<TPeer>(TPeer peer, int index)
    where TPeer : class
{
    public TPeer Peer => peer;

    internal int Index { get; set; } = index;
}
