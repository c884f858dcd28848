using Net.Zlink.Buffers;
using Net.Zlink.Engine;

namespace Net.Zlink.Sockets.Links;

/// <summary>What was added to a lane and no consumer has taken over yet: a chain of leases, of which the last may be open: short messages
/// of this process's senders lie packed in one piece of memory, and long ones, which go by reference, take no lease each.</summary>
/// <remarks>Not thread-safe: under the lane's lock.</remarks>
internal struct ProducerChain
{
    // An open lease starts with room for some dozens of short messages and grows fourfold up to a read's size, so a quiet pipe holds
    // little.
    private const int MinOpenSlabSize = 4 * 1024;
    private const int MaxOpenSlabSize = 64 * 1024;

    private InboundLease? _last;
    private bool _isOpen; // The last one takes in more.
    private Slab? _openSlab;
    private int _openUsed;
    private int _openSize;

    /// <summary>The oldest; each leads to the next.</summary>
    public InboundLease? First;

    /// <summary>Adds what one read brought. Short messages of short reads join those before them: a lease alone, 0.6 KB, was twenty and
    /// more times what limits count for a message of some bytes.</summary>
    public void Append(InboundLease lease)
    {
        if (_last is { } last && !_isOpen && First is not null && last.TryAbsorb(lease))
        {
            return;
        }

        Link(lease);
    }

    /// <summary>Adds a lease that others have filled.</summary>
    public void Link(InboundLease lease)
    {
        _isOpen = false;
        _openSlab = null; // Its reference belongs to its lease.
        if (First is null)
        {
            First = lease;
        }
        else
        {
            _last!.Next = lease;
        }

        _last = lease;
    }

    /// <summary>Takes all of it out.</summary>
    public InboundLease? DequeueAll()
    {
        InboundLease? all = First;
        First = null;
        _last = null;
        _isOpen = false;
        _openSlab = null;
        return all;
    }

    /// <summary>Keeps the newest message only. Where others lie in its lease, handed-over memory may be let go of in here: the caller keeps
    /// that until the lock is left.</summary>
    /// <param name="obsolete">The leases of the others, to be released outside of the lock.</param>
    /// <returns>The lease that is left; null if there is none.</returns>
    public InboundLease? ConflateToNewest(out InboundLease? obsolete)
    {
        obsolete = null;
        InboundLease? newest = DequeueAll();
        while (newest?.Next is { } next)
        {
            newest.Next = obsolete;
            obsolete = newest;
            newest = next;
        }

        if (newest is not null)
        {
            newest.ConflateToLast();
            Link(newest);
        }

        return newest;
    }

    /// <summary>Puts a chain that was taken out before what has been added since.</summary>
    public void PutBack(InboundLease first)
    {
        InboundLease last = first;
        while (last.Next is { } next)
        {
            last = next;
        }

        last.Next = First;
        _last = First is null ? last : _last;
        First = first;
    }

    /// <summary>Adds one message: of one part to the open lease, of several in a lease of its own, since these keep their memory until the
    /// last message of the lease has ended.</summary>
    /// <param name="message">The message.</param>
    /// <param name="copy">Its payload, where that was copied before.</param>
    /// <param name="slabs">Where memory comes from.</param>
    /// <param name="source">Who sends.</param>
    /// <param name="checkedAt">See <see cref="InboundLease.CheckedAtVersion"/>.</param>
    /// <param name="parts">How many parts it has.</param>
    /// <param name="bytes">How long they are.</param>
    /// <returns>True if handed-over memory was copied, so that its owner can be disposed once the lock is left.</returns>
    public bool Add(in OutgoingMessage message, Slab? copy, Slab.SlabCache slabs, PeerIdentity source, int checkedAt, out int parts,
        out long bytes)
    {
        InboundLease? lease;
        bool copied = true;
        if (message.IsSingle && copy is null && message.Payload.Length < OutboundChain.LargePayload)
        {
            // The common case: a short payload, packed behind its predecessors.
            bytes = message.Payload.Length;
            parts = 1;
            lease = OpenLease(message.Payload.Length, slabs, source, checkedAt);
            message.Payload.CopyTo(_openSlab!.Array.AsSpan(_openUsed));
            lease.AddPart(_openUsed, message.Payload.Length);
            _openUsed += message.Payload.Length;
        }
        else
        {
            bool isOnePart = message.IsOnePart;
            bool isAnother = !isOnePart || !_isOpen || _last!.Count == InboundLease.MaxSlots || _last.CheckedAtVersion > checkedAt
                || !ReferenceEquals(_last.Source, source);
            lease = isAnother ? InboundLease.Rent(slab: null, source, checkedAt) : _last!;
            (parts, bytes) = (lease.Count, lease.Bytes);
            if (copy is not null)
            {
                lease.AddPart(copy, 0, message.Payload.Length);
            }
            else
            {
                copied = message.MoveTo(lease, slabs);
            }

            (parts, bytes) = (lease.Count - parts, lease.Bytes - bytes);
            if (isAnother)
            {
                Link(lease); // Not before there is something in it: what was handed over may turn out to be disposed.
                _isOpen = isOnePart;
            }
        }

        lease.EndMessage();
        return copied;
    }

    /// <summary>Takes out of what comes first all that a filter lets in no more, up to the first lease with something that it does let
    /// in.</summary>
    /// <param name="filter">The reader's socket.</param>
    /// <param name="filterVersion">How often its filter was narrowed by now: leases that passed it since are not looked at.</param>
    /// <param name="unwanted">Takes what was taken out, to be released outside of all locks.</param>
    public void FilterFront(SocketCore filter, int filterVersion, ref FilteredOut unwanted)
    {
        while (First is { } lease && lease.CheckedAtVersion != filterVersion)
        {
            DequeueUpTo(lease);
            if (Wanted(lease, filter, ref unwanted) is { } wanted)
            {
                wanted.CheckedAtVersion = filterVersion;
                PutBack(wanted);
                return;
            }
        }
    }

    /// <summary>Takes out what comes first as far as it has passed the filter as it is.</summary>
    public InboundLease? DequeueFiltered(int filterVersion)
    {
        InboundLease? first = First;
        if (first is null || first.CheckedAtVersion != filterVersion)
        {
            return null;
        }

        InboundLease last = first;
        while (last.Next is { } next && next.CheckedAtVersion == filterVersion)
        {
            last = next;
        }

        DequeueUpTo(last);
        return first;
    }

    /// <summary>The lease itself where all of it is wanted; else one that shares the memory of what is, while the lease goes where the rest
    /// goes. Null if nothing is wanted.</summary>
    private static InboundLease? Wanted(InboundLease lease, SocketCore filter, ref FilteredOut unwanted)
    {
        InboundLease? wanted = null;
        bool isAllWanted = true;
        for (int slot = lease.Cursor; slot < lease.Count; slot += lease.PartsOf(slot))
        {
            (Slab slab, int offset, int length) = lease.OffsetOf(slot);
            bool isWanted = filter.Accepts(slab.Array.AsSpan(offset, length));
            if (isWanted && !isAllWanted)
            {
                ShareOpenSlab(lease, slot, ref wanted);
            }
            else if (!isWanted)
            {
                unwanted.Count(lease, slot);
                for (int earlier = lease.Cursor; isAllWanted && earlier < slot; earlier += lease.PartsOf(earlier))
                {
                    ShareOpenSlab(lease, earlier, ref wanted);
                }

                isAllWanted = false;
            }
        }

        if (isAllWanted)
        {
            return lease;
        }

        unwanted.Add(lease);
        return wanted;
    }

    private static void ShareOpenSlab(InboundLease from, int slot, ref InboundLease? into)
    {
        into ??= InboundLease.Rent(slab: null, from.Source);
        into.AddParts(from, slot);
        into.EndMessage();
    }

    /// <summary>Cuts the chain behind a lease.</summary>
    private void DequeueUpTo(InboundLease last)
    {
        First = last.Next;
        last.Next = null;
        if (First is null)
        {
            _last = null;
            _isOpen = false;
            _openSlab = null;
        }
    }

    private InboundLease OpenLease(int needed, Slab.SlabCache slabs, PeerIdentity source, int checkedAt)
    {
        Slab? slab = _openSlab;
        if (slab is not null && slab.Array.Length - _openUsed >= needed)
        {
            if (_last!.Count < InboundLease.MaxSlots && _last.CheckedAtVersion <= checkedAt)
            {
                return _last;
            }

            // Room left, but no slot, or this one passed its filter earlier than what lies here: the next lease goes on in the same memory.
            slab.AddReference();
        }
        else
        {
            _openSize = First is null ? MinOpenSlabSize : Math.Min(Math.Max(MinOpenSlabSize, _openSize * 4), MaxOpenSlabSize);
            slab = slabs.Rent(Math.Max(_openSize, needed));
            _openUsed = 0;
        }

        InboundLease lease = InboundLease.Rent(slab, source, checkedAt);
        Link(lease);
        _isOpen = true;
        _openSlab = slab;
        return lease;
    }
}

/// <summary>What a narrowed filter took out of a lane.</summary>
internal struct FilteredOut
{
    /// <summary>Leases whose unread messages nobody needs any more.</summary>
    public InboundLease? Leases { get; private set; }

    public long Messages { get; private set; }

    public int Parts { get; private set; }

    public long Bytes { get; private set; }

    /// <summary>Counts an unwanted message.</summary>
    public void Count(InboundLease lease, int slot)
    {
        Messages++;
        Parts += lease.PartsOf(slot);
        Bytes += lease.BytesOf(slot);
    }

    /// <summary>Adds a lease, or a chain of them, with whatever is unread in it.</summary>
    public void Add(InboundLease? chain)
    {
        while (chain is not null)
        {
            InboundLease? next = chain.Next;
            chain.Next = Leases;
            Leases = chain;
            chain = next;
        }
    }
}
