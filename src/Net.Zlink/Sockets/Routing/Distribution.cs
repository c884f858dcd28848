using System.Diagnostics;
using System.Runtime.InteropServices;

namespace Net.Zlink.Sockets.Routing;

internal sealed class DistributionSlot
{
    internal int Index { get; set; }
}

/// <summary>When a peer leaves, the last takes its position: adding and removing are O(1).</summary>
internal sealed class Distribution<TPeer>
    where TPeer : class
{
    private readonly List<TPeer> _peers = [];
    private readonly List<DistributionSlot> _slots = [];

    public int Count => _peers.Count;

    public ReadOnlySpan<TPeer> Peers => CollectionsMarshal.AsSpan(_peers);

    public DistributionSlot Add(TPeer peer)
    {
        var slot = new DistributionSlot { Index = _peers.Count };
        _peers.Add(peer);
        _slots.Add(slot);
        return slot;
    }

    public void Remove(DistributionSlot slot)
    {
        int index = slot.Index;
        if (index < 0)
        {
            return;
        }

        Debug.Assert(_slots[index] == slot, "A slot of another distribution.");
        int last = _peers.Count - 1;
        _peers[index] = _peers[last];
        _slots[index] = _slots[last];
        _slots[index].Index = index;
        _peers.RemoveAt(last);
        _slots.RemoveAt(last);
        slot.Index = -1;
    }
}
