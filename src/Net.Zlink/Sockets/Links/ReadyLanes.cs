using System.Numerics;
using Net.Zlink.Buffers;

namespace Net.Zlink.Sockets.Links;

/// <summary>The line of lanes with unread messages, first in, first out, which fetches what its next lanes will be read from. Not
/// thread-safe: under the receive queue's lock.</summary>
/// <remarks>
/// One message of each lane in turn means that with a thousand peers no lane, lease or payload is in a cache when its turn comes, and that
/// each leads to the next: five waits for memory a message, half of what receiving it costs (docs/benchmarks/log.md, "One of many"). So
/// with each lane that is taken the memory of some behind it comes one step closer: the lane, its lease, the message's slot, the payload.
/// </remarks>
internal struct ReadyLanes
{
    // A power of two: positions wrap by a mask. Grows with the most lanes that ever stood here at once.
    private const int MinRingSize = 16;

    // The lanes of so many peers, with what they lead to some 30 KB, stay in the first two caches by themselves; looking ahead would cost 5
    // ns a message for nothing.
    private const int SmallRingSize = 32;

    // From one step to the next, in messages, and from the last to its message's turn: 0.1 us each at least, and a look at memory takes 0.1
    // to 0.3 us. One apart, the second step still waited for the first (20 % of receiving);
    // with the payload one message ahead of its turn instead of three, a message cost 8 % more.
    private const int Step = 3;

    private static readonly int s_consumerOffset = InboundLane.Layout.Taken;

    private InboundLane?[]? _ring;
    private int _first;

    public int Count { get; private set; }

    /// <summary>The lane at a place, counted from the front.</summary>
    public readonly InboundLane this[int place] => _ring![(_first + place) & (_ring.Length - 1)]!;

    public void Enqueue(InboundLane lane)
    {
        InboundLane?[] ring = _ring is { } present && Count < present.Length ? present : Grow();
        ring[(_first + Count++) & (ring.Length - 1)] = lane;
    }

    public InboundLane? Dequeue()
    {
        if (Count == 0)
        {
            return null;
        }

        InboundLane?[] ring = _ring!;
        InboundLane? lane = ring[_first];
        ring[_first] = null;
        _first = (_first + 1) & (ring.Length - 1);
        if (--Count >= SmallRingSize)
        {
            Prefetch(ring);
        }

        return lane;
    }

    /// <summary>Takes all of them out.</summary>
    public List<InboundLane> Clear()
    {
        var all = new List<InboundLane>(Count);
        while (Dequeue() is { } lane)
        {
            all.Add(lane);
        }

        return all;
    }

    private readonly void Prefetch(InboundLane?[] ring)
    {
        int mask = ring.Length - 1;
        InboundLane? far = ring[(_first + (4 * Step)) & mask];
        CacheLines.Fetch(far);
        CacheLines.Fetch(far, s_consumerOffset);
        ring[(_first + (3 * Step)) & mask]!.FetchLease();
        ring[(_first + (2 * Step)) & mask]!.FetchSlot();
        ring[(_first + Step) & mask]!.FetchPayload();
    }

    private InboundLane?[] Grow()
    {
        var larger = new InboundLane?[(int)BitOperations.RoundUpToPowerOf2((uint)Math.Max(MinRingSize, Count + 1))];
        for (int i = 0; i < Count; i++)
        {
            larger[i] = _ring![(_first + i) & (_ring.Length - 1)];
        }

        _first = 0;
        return _ring = larger;
    }
}
