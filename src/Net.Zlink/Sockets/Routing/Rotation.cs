using System.Diagnostics;

namespace Net.Zlink.Sockets.Routing;

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
        if (slot.Index < 0)
        {
            return;
        }

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
