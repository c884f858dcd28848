using Net.Zlink.Buffers;

namespace Net.Zlink.Engine;

/// <summary>Leases of copies: second leases on the bytes of messages, which the caller keeps alive meanwhile.</summary>
internal static class LeaseCopies
{
    // More would keep much memory of others: a lease ends with the last of its messages.
    private const int MaxBytes = 64 * 1024;

    /// <param name="from">The lease of the first message.</param>
    /// <param name="slot">Its slot.</param>
    /// <param name="messages">How many the copies will be at most.</param>
    public static InboundLease Begin(InboundLease from, int slot, int messages)
    {
        // Most parts of a run lie in the slab of one read, so that one reference serves all of them.
        Slab slab = from.PartAt(slot).Slab;
        slab.AddReference();
        InboundLease copies = messages * from.PartsOf(slot) > InboundLease.SmallestSlots ? InboundLease.Rent(slab, from.Source)
            : InboundLease.RentForOne(slab, from.Source);
        copies.NoticeOf = from.NoticeOf;
        copies.IsRepeatedNotice = from.IsRepeatedNotice;
        copies.AddParts(from, slot);
        copies.EndMessage();
        return copies;
    }

    /// <summary>Adds one more message. False: it does not fit.</summary>
    public static bool TryAdd(InboundLease copies, InboundLease from, int slot)
    {
        bool isTooMuch = copies.Count + from.PartsOf(slot) > InboundLease.MaxSlots || copies.Bytes + from.BytesOf(slot) > MaxBytes;
        if (isTooMuch || !copies.IsOfSameSource(from))
        {
            return false;
        }

        copies.AddParts(from, slot);
        copies.EndMessage();
        return true;
    }
}
