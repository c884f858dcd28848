using System.Buffers;
using System.Runtime.InteropServices;
using Net.Zlink.Buffers;
using Net.Zlink.Protocol;
using Net.Zlink.Protocol.Zmp;

namespace Net.Zlink.Engine;

/// <summary>A message on its way into a queue, for the length of one call: one payload, an encoded multipart message, or a received message that is passed on.</summary>
/// <remarks>
/// On the fast path it is made in a local variable, not in an argument: the compiler makes an argument elsewhere and copies it, and a copy of what was written a moment ago in other pieces waits until every earlier
/// write of the processor is done: half of a send's time where these go to memory that no cache holds.
/// </remarks>
internal readonly ref struct OutgoingMessage
{
    private readonly EncodedMessage? _encoded;
    private readonly InboundLease? _lease;
    private readonly int _slot;

    public OutgoingMessage(FrameHeader header, ReadOnlySpan<byte> payload)
    {
        Header = header;
        Payload = payload;
    }

    public OutgoingMessage(FrameHeader header, ReadOnlyMemory<byte> payload, IMemoryOwner<byte>? owner)
    {
        Header = header;
        Payload = payload.Span; // First: it is the step that may throw.
        Donated = payload;
        Owner = owner;
    }

    public OutgoingMessage(EncodedMessage encoded) => _encoded = encoded;

    /// <param name="lease">Holds the message.</param>
    /// <param name="slot">Its first slot.</param>
    /// <param name="header">Of a message of one part on its way to a STREAM peer: it gets this one instead of ZMP's.</param>
    public OutgoingMessage(InboundLease lease, int slot, FrameHeader header = default)
    {
        _lease = lease;
        _slot = slot;
        Header = header;
    }

    public FrameHeader Header { get; }

    public ReadOnlySpan<byte> Payload { get; }

    public ReadOnlyMemory<byte> Donated { get; }

    /// <summary>Owns <see cref="Donated"/>; goes over to the queue that accepts the message.</summary>
    public IMemoryOwner<byte>? Owner { get; }

    /// <summary>A payload that is long enough to be copied outside the queue's lock.</summary>
    public bool IsLargeCopy => IsSingle && IsLong;

    /// <summary>Of a message of one part: the same.</summary>
    public bool IsLong => Owner is null && Payload.Length >= OutboundChain.LargePayload;

    /// <summary>The message has one part, <see cref="Payload"/>.</summary>
    public bool IsSingle => _encoded is null && _lease is null;

    /// <summary>Has one part, which lies in one piece of memory, given or received: not one that was built.</summary>
    public bool IsOnePart => _encoded is null && (_lease is null || _lease.PartsOf(_slot) == 1);

    /// <summary>It was received, and is passed on: several may take it from where it lies.</summary>
    public bool IsForwarded => _lease is not null;

    /// <summary>Has a long part in memory that several peers can share as it is, handed over or received: to encode it would be to copy it.</summary>
    public bool HasLongPartToShare
    {
        get
        {
            if (_encoded is not null)
            {
                return _encoded.HasDonated;
            }

            if (_lease is null)
            {
                return Payload.Length >= OutboundChain.LargePayload && Owner is not null && MemoryMarshal.TryGetArray(Donated, out _);
            }

            int parts = _lease.PartsOf(_slot);
            for (int i = 0; i < parts; i++)
            {
                if (_lease.OffsetOf(_slot + i).Length >= OutboundChain.LargePayload)
                {
                    return true;
                }
            }

            return false;
        }
    }

    /// <summary>The first part, by which publishers filter.</summary>
    public ReadOnlySpan<byte> FirstPart
    {
        get
        {
            PartCursor first = default;
            return IsSingle ? Payload : NextPart(ref first);
        }
    }

    public int PartCount => _encoded is not null ? _encoded.Parts : _lease is not null ? _lease.PartsOf(_slot) : 1;

    /// <summary>The part that a walk over all of them has come to; the walk goes on to the next.</summary>
    public ReadOnlySpan<byte> NextPart(scoped ref PartCursor at)
    {
        if (_encoded is not null)
        {
            return _encoded.NextPart(ref at);
        }

        int index = at.Index++;
        if (_lease is null)
        {
            return Payload;
        }

        (Slab slab, int offset, int length) = _lease.OffsetOf(_slot + index);
        return slab.Array.AsSpan(offset, length);
    }

    /// <summary>Lets go of what was handed over with a message that was copied, or dropped.</summary>
    public void Consume()
    {
        _encoded?.Clear();
        if (Owner is not null)
        {
            DeferredDisposal.Dispose(Owner);
        }
    }

    /// <summary>Bytes on the wire, headers included.</summary>
    public long EncodedLength =>
        _encoded is not null ? _encoded.TotalLength
        : _lease is not null ? _lease.BytesOf(_slot) + ((long)ZmpFrame.HeaderSize * _lease.PartsOf(_slot))
        : Header.Length + Payload.Length;

    /// <summary>Encodes the message into a chain. True if handed-over memory was copied and is to be disposed by the caller.</summary>
    public bool AddTo(ref OutboundChain chain, BufferPool pool)
    {
        if (_encoded is not null)
        {
            _encoded.MoveTo(ref chain, pool);
            return false;
        }

        if (_lease is not null)
        {
            AddParts(ref chain);
            return false;
        }

        if (Payload.Length < OutboundChain.LargePayload)
        {
            chain.AddFrame(Header, Payload);
            return true;
        }

        if (Owner is not null)
        {
            chain.AddDonatedFrame(Header, Owner, Donated);
            return false;
        }

        byte[] array = ToArray(pool, out int total);
        chain.AddArray(array, total);
        return true;
    }

    /// <summary>Of a message of one part: encodes it into an array of the pool's.</summary>
    public byte[] ToArray(BufferPool pool, out int length)
    {
        length = Header.Length + Payload.Length;
        byte[] array = pool.RentArray(length);
        Header.WriteTo(array);
        Payload.CopyTo(array.AsSpan(Header.Length));
        return array;
    }

    /// <summary>Of a message that is to go into a lease: copies handed-over parts that no array is beneath, and disposes them. Outside of the lane's lock.</summary>
    public void PutIntoArrays(BufferPool arrays) => _encoded?.PutIntoArrays(arrays);

    /// <summary>Puts the parts into a lease without encoding them: short ones are copied together, long ones go by reference.</summary>
    /// <returns>True if handed-over memory was copied and is to be disposed by the caller.</returns>
    public bool MoveTo(InboundLease lease, Slab.SlabCache slabs)
    {
        if (_encoded is not null)
        {
            _encoded.MoveTo(lease, slabs);
            return false;
        }

        if (_lease is null)
        {
            return MoveSingleTo(lease, slabs);
        }

        // By reference, whatever the length: a message that is passed on was not copied on its way here either.
        lease.AddParts(_lease, _slot);
        return false;
    }

    /// <summary>Puts the parts into a lease of their own, whose one message the caller ends, and with them what was handed over. Outside of the lane's lock.</summary>
    /// <exception cref="ObjectDisposedException">Handed-over memory was disposed before; the message is as it was.</exception>
    public InboundLease MoveToLease(Slab.SlabCache slabs)
    {
        PutIntoArrays(slabs.Pool);
        InboundLease lease = InboundLease.Rent(slab: null, source: null);
        if (MoveTo(lease, slabs) && Owner is not null)
        {
            DeferredDisposal.Dispose(Owner);
        }

        lease.EndMessage();
        return lease;
    }

    /// <summary>Encodes the whole message, of at most as many bytes as an array holds, into a slab of its own; a long one that was built without handed-over parts gives its array away instead.</summary>
    public Slab MoveToSlab(Slab.SlabCache slabs)
    {
        int length = (int)EncodedLength;
        if (_encoded is { HasDonated: false } && length >= OutboundChain.LargePayload)
        {
            return _encoded.MoveTo(slabs);
        }

        // A short one that was built is copied: its builder goes on with an array that has grown to what it needs.
        Slab slab = slabs.Rent(length);
        WriteTo(slab.Array);
        return slab;
    }

    /// <summary>Encodes the whole message into one piece of memory of at least <see cref="EncodedLength"/> bytes.</summary>
    public void WriteTo(Span<byte> destination)
    {
        if (_encoded is not null)
        {
            _encoded.CopyTo(destination);
        }
        else if (_lease is not null)
        {
            int parts = _lease.PartsOf(_slot);
            for (int i = 0; i < parts; i++)
            {
                (Slab slab, int offset, int length) = _lease.OffsetOf(_slot + i);
                ZmpFrame.WriteHeader(destination, FlagsOf(i, parts), (uint)length);
                slab.Array.AsSpan(offset, length).CopyTo(destination[ZmpFrame.HeaderSize..]);
                destination = destination[(ZmpFrame.HeaderSize + length)..];
            }
        }
        else
        {
            Header.WriteTo(destination);
            Payload.CopyTo(destination[Header.Length..]);
        }
    }

    private bool MoveSingleTo(InboundLease lease, Slab.SlabCache slabs)
    {
        if (Owner is not null && MemoryMarshal.TryGetArray(Donated, out ArraySegment<byte> segment))
        {
            lease.AddPart(slabs.Adopt(segment.Array!, Owner), segment.Offset, segment.Count);
            return false;
        }

        Slab copy = slabs.Rent(Math.Max(1, Payload.Length));
        Payload.CopyTo(copy.Array);
        lease.AddPart(copy, 0, Payload.Length);
        return true;
    }

    private static ZmpFlags FlagsOf(int part, int parts) => part < parts - 1 ? ZmpFlags.More : ZmpFlags.None;

    private void AddParts(ref OutboundChain chain)
    {
        int parts = _lease!.PartsOf(_slot);
        for (int i = 0; i < parts; i++)
        {
            (Slab slab, int offset, int length) = _lease.OffsetOf(_slot + i);
            FrameHeader header = Header.Length > 0 ? Header : ZmpFrame.HeaderOf(FlagsOf(i, parts), (uint)length);
            if (length < OutboundChain.LargePayload)
            {
                chain.AddFrame(header, slab.Array.AsSpan(offset, length));
            }
            else
            {
                slab.AddReference();
                chain.AddSharedFrame(header, slab, offset, length);
            }
        }
    }
}

/// <summary>A message that outlives the call it was given in: a send that waits.</summary>
internal readonly struct DeferredMessage
{
    private readonly FrameHeader _header;
    private readonly ReadOnlyMemory<byte> _payload;
    private readonly EncodedMessage? _encoded;
    private readonly InboundLease? _lease;
    private readonly int _slot;
    private readonly int _generation;

    public DeferredMessage(FrameHeader header, ReadOnlyMemory<byte> payload, IMemoryOwner<byte>? owner)
    {
        _header = header;
        _payload = payload;
        Owner = owner;
    }

    public DeferredMessage(EncodedMessage encoded)
    {
        _encoded = encoded;
        _generation = encoded.Version;
    }

    public DeferredMessage(InboundLease lease, int slot, int generation, FrameHeader header = default)
    {
        _header = header;
        _lease = lease;
        _slot = slot;
        _generation = generation;
    }

    /// <summary>Owner of handed-over memory.</summary>
    public IMemoryOwner<byte>? Owner { get; }

    /// <exception cref="ObjectDisposedException">It was ended while the send waited.</exception>
    /// <exception cref="InvalidOperationException">It was built further, cleared or disposed while the send waited.</exception>
    public OutgoingMessage AsOutgoing() =>
        _encoded is not null ? Unchanged(_encoded)
        : _lease is not null ? ForwardLease(_lease)
        : new OutgoingMessage(_header, _payload, Owner);

    private OutgoingMessage Unchanged(EncodedMessage encoded)
    {
        return encoded.Version == _generation ? new OutgoingMessage(encoded)
            : throw new InvalidOperationException("The MessageBuilder was added to, cleared, sent or disposed while a send of it waited: nothing of that send was sent. Await it first.");
    }

    private OutgoingMessage ForwardLease(InboundLease lease)
    {
        return lease.IsLive(_slot, _generation) ? new OutgoingMessage(lease, _slot, _header) : throw InboundLease.Ended();
    }
}
