using System.Diagnostics;

namespace Net.Zlink.Sockets.Routing;

/// <summary>A peer's position in a <see cref="Rotation{TPeer}"/>, kept with the peer.</summary>
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

/// <summary>
/// Load balancing: peers with capacity take turns, one message each, beginning with the first attached. Every operation is O(1). Not
/// thread-safe: under the socket's lock.
/// </summary>
/// <remarks>
/// Active peers stand in front of full ones, and a peer changes sides by a swap. The order is that of attachment until a peer fills up or
/// leaves; then the last active peer takes its position, as in the native core.
/// </remarks>
internal sealed class Rotation<TPeer>
    where TPeer : class
{
    private readonly List<RotationSlot<TPeer>> _slots = [];
    private int _current;

    /// <summary>Attached peers, with full ones.</summary>
    public int Count => _slots.Count;

    public int ActiveCount { get; private set; }

    /// <summary>The next peer. Null if no peer has capacity.</summary>
    public RotationSlot<TPeer>? Current => ActiveCount == 0 ? null : _slots[_current];

    public RotationSlot<TPeer> Add(TPeer peer)
    {
        var slot = new RotationSlot<TPeer>(peer, _slots.Count);
        _slots.Add(slot);
        Activate(slot);
        return slot;
    }

    public bool IsActive(RotationSlot<TPeer> slot) => (uint)slot.Index < (uint)ActiveCount;

    /// <summary>The peer has capacity: it takes turns again, as the last. Does nothing if it is active.</summary>
    public void Activate(RotationSlot<TPeer> slot)
    {
        Debug.Assert(slot.Index >= 0 && _slots[slot.Index] == slot, "A slot of another rotation, or removed.");
        if (!IsActive(slot))
        {
            Swap(slot.Index, ActiveCount++);
        }
    }

    /// <summary>The peer is full: it takes no turns. Does nothing if it is inactive.</summary>
    public void Deactivate(RotationSlot<TPeer> slot)
    {
        Debug.Assert(slot.Index >= 0 && _slots[slot.Index] == slot, "A slot of another rotation, or removed.");
        if (IsActive(slot))
        {
            Swap(slot.Index, --ActiveCount);
            WrapAround();
        }
    }

    /// <summary>Does nothing if the peer was removed before.</summary>
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

    /// <summary>The current peer got its message: the next one's turn.</summary>
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
