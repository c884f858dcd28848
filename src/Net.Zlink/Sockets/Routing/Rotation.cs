using System.Diagnostics;

namespace Net.Zlink.Sockets.Routing;

/// <summary>A peer's place in a <see cref="Rotation{TPeer}"/>; the owner keeps it with the peer.</summary>
internal sealed class RotationSlot<TPeer>
    where TPeer : class
{
    internal RotationSlot(TPeer peer, int index)
    {
        Peer = peer;
        Index = index;
    }

    public TPeer Peer { get; }

    internal int Index { get; set; }
}

/// <summary>Load balancing: the peers that have room take their turns, one message each, starting with the first attached. Every operation
/// is O(1). Not thread-safe: the socket's lock is held around every call.</summary>
/// <remarks>
/// Active peers stand in front, full ones behind; a peer changes sides by swapping places. So the order of turns is the order of attachment
/// until a peer fills up or leaves; then the last active peer takes its place, as in the native core.
/// </remarks>
internal sealed class Rotation<TPeer>
    where TPeer : class
{
    private readonly List<RotationSlot<TPeer>> _slots = [];
    private int _current;

    /// <summary>Attached peers, full ones included.</summary>
    public int Count => _slots.Count;

    /// <summary>Peers that take turns.</summary>
    public int ActiveCount { get; private set; }

    /// <summary>Whose turn it is; null if no peer has room.</summary>
    public RotationSlot<TPeer>? Current => ActiveCount == 0 ? null : _slots[_current];

    /// <summary>Attaches a peer at the end, active.</summary>
    public RotationSlot<TPeer> Add(TPeer peer)
    {
        var slot = new RotationSlot<TPeer>(peer, _slots.Count);
        _slots.Add(slot);
        Activate(slot);
        return slot;
    }

    public bool IsActive(RotationSlot<TPeer> slot) => (uint)slot.Index < (uint)ActiveCount;

    /// <summary>The peer has room again: it takes turns, last for now. Nothing happens if it does already.</summary>
    public void Activate(RotationSlot<TPeer> slot)
    {
        Debug.Assert(slot.Index >= 0 && _slots[slot.Index] == slot, "A slot of another rotation, or removed.");
        if (!IsActive(slot))
        {
            Swap(slot.Index, ActiveCount++);
        }
    }

    /// <summary>The peer is full: it takes no turns. If it was its turn, it is another's now. Nothing happens if it takes none
    /// already.</summary>
    public void Deactivate(RotationSlot<TPeer> slot)
    {
        Debug.Assert(slot.Index >= 0 && _slots[slot.Index] == slot, "A slot of another rotation, or removed.");
        if (IsActive(slot))
        {
            Swap(slot.Index, --ActiveCount);
            WrapAround();
        }
    }

    /// <summary>The peer is gone. Nothing happens if it was removed before.</summary>
    public void Remove(RotationSlot<TPeer> slot)
    {
        if (slot.Index < 0)
        {
            return;
        }

        Deactivate(slot);
        Swap(slot.Index, _slots.Count - 1);
        _slots.RemoveAt(_slots.Count - 1);
        slot.Index = -1;
    }

    /// <summary>The message of the current peer is complete: the next one's turn.</summary>
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
