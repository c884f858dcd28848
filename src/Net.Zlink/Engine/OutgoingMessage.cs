using System.Buffers;
using System.Runtime.InteropServices;
using Net.Zlink.Buffers;
using Net.Zlink.Protocol;
using Net.Zlink.Protocol.Zmp;

namespace Net.Zlink.Engine;

/// <summary>
/// A message on its way into a queue, for one call. Built in a local variable: as an argument the compiler copies it, which stalls until
/// the processor's earlier writes are done, half of a send's time with cold memory.
/// </summary>
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
        Payload = payload.Span; // First, because it may throw.
        Donated = payload;
        Owner = owner;
    }

    public OutgoingMessage(EncodedMessage encoded) => _encoded = encoded;

    public OutgoingMessage(InboundLease lease, int slot, FrameHeader header = default)
    {
        _lease = lease;
        _slot = slot;
        Header = header;
    }

    public FrameHeader Header { get; }

    public ReadOnlySpan<byte> Payload { get; }

    public ReadOnlyMemory<byte> Donated { get; }

    public IMemoryOwner<byte>? Owner { get; }

    public bool IsLargeCopy => IsSingle && IsLong;

    public bool IsLong => Owner is null && Payload.Length >= OutboundChain.LargePayload;

    public bool IsSingle => _encoded is null && _lease is null;

    public bool IsOnePart => _encoded is null && (_lease is null || _lease.PartsOf(_slot) == 1);

    public bool IsForwarded => _lease is not null;

    public bool IsRepeatedNotice => _lease is { IsRepeatedNotice: true };

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
                if (_lease.PartAt(_slot + i).Length >= OutboundChain.LargePayload)
                {
                    return true;
                }
            }

            return false;
        }
    }

    public ReadOnlySpan<byte> FirstPart
    {
        get
        {
            if (_lease is null)
            {
                PartCursor first = default;
                return _encoded is null ? Payload : _encoded.NextPart(ref first);
            }

            (Slab slab, int offset, int length) = _lease.PartAt(_slot);
            return slab.Array.AsSpan(offset, length);
        }
    }

    public int PartCount => _encoded is not null ? _encoded.Parts : _lease is not null ? _lease.PartsOf(_slot) : 1;

    public void Consume()
    {
        _encoded?.Clear();
        if (Owner is not null)
        {
            DeferredDisposal.Dispose(Owner);
        }
    }

    public long EncodedLength =>
        _encoded is not null ? _encoded.TotalLength
        : _lease is not null ? _lease.BytesOf(_slot) + ((long)ZmpFrame.HeaderSize * _lease.PartsOf(_slot))
        : Header.Length + Payload.Length;

    public bool AddTo(ref OutboundChain chain, BufferPool pool)
    {
        if (!IsSingle)
        {
            AddSeveral(ref chain, pool);
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

    public byte[] ToArray(BufferPool pool, out int length)
    {
        length = Header.Length + Payload.Length;
        byte[] array = pool.RentArray(length);
        Header.WriteTo(array);
        Payload.CopyTo(array.AsSpan(Header.Length));
        return array;
    }

    /// <summary>Outside the lane's lock.</summary>
    public void PutIntoArrays(BufferPool arrays) => _encoded?.PutIntoArrays(arrays);

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

        lease.AddParts(_lease, _slot);
        return false;
    }

    /// <summary>Outside the lane's lock.</summary>
    public InboundLease MoveToLease(Slab.SlabCache slabs)
    {
        PutIntoArrays(slabs.Pool);
        InboundLease lease = InboundLease.RentForOne(slab: null, source: null);
        if (MoveTo(lease, slabs) && Owner is not null)
        {
            DeferredDisposal.Dispose(Owner);
        }

        lease.EndMessage();
        return lease;
    }

    public Slab MoveToSlab(Slab.SlabCache slabs)
    {
        int length = (int)EncodedLength;
        if (_encoded is { HasDonated: false } && length >= OutboundChain.LargePayload)
        {
            return _encoded.MoveTo(slabs);
        }

        Slab slab = slabs.Rent(length);
        WriteTo(slab.Array);
        return slab;
    }

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
                (Slab slab, int offset, int length) = _lease.PartAt(_slot + i);
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

    private void AddSeveral(ref OutboundChain chain, BufferPool pool)
    {
        OutboundChain.Mark mark = chain.MarkEnd();
        try
        {
            if (_encoded is not null)
            {
                _encoded.MoveTo(ref chain, pool);
            }
            else
            {
                AddParts(ref chain);
            }
        }
        catch
        {
            chain.ReturnTo(mark);
            throw;
        }
    }

    private void AddParts(ref OutboundChain chain)
    {
        int parts = _lease!.PartsOf(_slot);
        for (int i = 0; i < parts; i++)
        {
            (Slab slab, int offset, int length) = _lease.PartAt(_slot + i);
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

    public IMemoryOwner<byte>? Owner { get; }

    public OutgoingMessage AsOutgoing() =>
        _encoded is not null ? Unchanged(_encoded)
        : _lease is not null ? ForwardLease(_lease)
        : new OutgoingMessage(_header, _payload, Owner);

    private OutgoingMessage Unchanged(EncodedMessage encoded)
    {
        return encoded.Version == _generation ? new OutgoingMessage(encoded)
                : throw new InvalidOperationException(
                    "The MessageBuilder was changed, sent or disposed while a send of it was waiting, " +
                    "so nothing was sent. Await a send before you use its builder again.");
    }

    private OutgoingMessage ForwardLease(InboundLease lease)
    {
        return lease.IsLive(_slot, _generation) ? new OutgoingMessage(lease, _slot, _header) : throw InboundLease.Ended();
    }
}
