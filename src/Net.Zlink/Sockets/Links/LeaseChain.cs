using Net.Zlink.Buffers;
using Net.Zlink.Engine;

namespace Net.Zlink.Sockets.Links;

/// <summary>
/// A lane's messages that no consumer has dequeued: a chain of leases. The last one may be open: short inproc messages are packed into its
/// memory.
/// </summary>
internal struct LeaseChain
{
    // An open lease starts with some dozens of short messages and grows fourfold up to a read's size, so a quiet link holds little.
    private const int MinOpenSlabSize = 4 * 1024;
    private const int MaxOpenSlabSize = 64 * 1024;

    private InboundLease? _last;
    private bool _isOpen;
    private Slab? _openSlab;
    private int _openUsed;
    private int _openSize;

    public InboundLease? First;

    /// <summary>
    /// Short messages of short reads are packed behind earlier ones: a lease (0.6 KB) costs 20 times what a message of some bytes counts.
    /// </summary>
    public void Append(InboundLease lease)
    {
        if (_last is { } last && !_isOpen && last.TryAbsorb(lease))
        {
            return;
        }

        Link(lease);
    }

    public InboundLease? DequeueAll()
    {
        InboundLease? all = First;
        First = null;
        _last = null;
        _isOpen = false;
        _openSlab = null;
        return all;
    }

    public void PutBack(InboundLease first)
    {
        InboundLease last = first;
        while (last.Next is { } next)
        {
            last = next;
        }

        last.Next = First;
        _last ??= last;
        First = first;
    }

    /// <summary>
    /// Adds one message: with one part to the open lease, with several to a lease of its own, because parts keep their memory until the
    /// lease's last message has ended.
    /// </summary>
    public bool Add(in OutgoingMessage message, Slab? copy, Slab.SlabCache slabs, PeerIdentity source, int checkedAt, out int parts,
        out long bytes)
    {
        InboundLease? lease;
        bool copied = true;
        if (message.IsShort && copy is null)
        {
            bytes = message.Payload.Length;
            parts = 1;
            lease = OpenLease(message.Payload.Length, slabs, source, checkedAt);
            message.Payload.CopyTo(_openSlab!.Array.AsSpan(_openUsed));
            lease.AddPart(_openUsed, message.Payload.Length);
            _openUsed += message.Payload.Length;
        }
        else
        {
            bool isOnePart = message.PartCount == 1 && message.Kind != MessageKind.Built;
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
                Link(lease); // Not before it holds a message: transferred memory may turn out to be disposed.
                _isOpen = isOnePart;
            }
        }

        lease.EndMessage();
        return copied;
    }

    private void Link(InboundLease lease)
    {
        _isOpen = false;
        _openSlab = null;
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

    private InboundLease OpenLease(int needed, Slab.SlabCache slabs, PeerIdentity source, int checkedAt)
    {
        Slab? slab = _openSlab;
        if (slab is not null && slab.Array.Length - _openUsed >= needed)
        {
            if (_last!.Count < InboundLease.MaxSlots && _last.CheckedAtVersion <= checkedAt)
            {
                return _last;
            }

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
