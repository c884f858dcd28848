using System.Buffers;
using System.Runtime.InteropServices;
using Net.Zlink.Buffers;
using Net.Zlink.Protocol.Zmp;

namespace Net.Zlink.Engine;

/// <summary>A message under construction, part by part, encoded as it grows: ZMP frames in one pooled array, with handed-over memory standing between them. Not thread-safe.</summary>
internal sealed class EncodedMessage(BufferPool pool)
{
    // Three short parts with their headers fit; a class of the pool.
    private const int SmallestArray = 256;

    private readonly List<DonatedPart> _donated = [];
    private byte[] _array = [];
    private int _length;
    private int _lastHeader = -1;
    private long _donatedBytes;

    /// <summary>Number of parts so far.</summary>
    public int Parts { get; private set; }

    /// <summary>Another one whenever parts were added, sent or forgotten: by it a send that waits sees that its message is not the one it was given.</summary>
    public int Version { get; private set; }

    /// <summary>Bytes on the wire.</summary>
    public long TotalLength => _length + _donatedBytes;

    /// <summary>Parts of it stand in memory that was handed over: all of them long.</summary>
    public bool HasDonated => _donated.Count > 0;

    /// <summary>The part that a walk has come to; the walk goes on to the next.</summary>
    public ReadOnlySpan<byte> NextPart(scoped ref PartCursor at)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThanOrEqual((uint)at.Index, (uint)Parts, nameof(at));
        int length = ZmpFrame.ReadLength(_array.AsSpan(at.Position));
        at.Index++;
        at.Position += ZmpFrame.HeaderSize;
        if (at.Donated < _donated.Count && _donated[at.Donated].Position == at.Position)
        {
            return _donated[at.Donated++].Memory.Span;
        }

        ReadOnlySpan<byte> part = _array.AsSpan(at.Position, length);
        at.Position += length;
        return part;
    }

    /// <summary>Adds a part; copies it.</summary>
    public void Add(ReadOnlySpan<byte> part)
    {
        part.CopyTo(AddHeader(part.Length, part.Length));
        _length += part.Length;
    }

    /// <summary>Adds a part of that many bytes for the caller to fill before the next call.</summary>
    public Span<byte> AddSpace(int length)
    {
        Span<byte> space = AddHeader(length, length)[..length];
        _length += length;
        return space;
    }

    /// <summary>Adds a part that is handed over; a short one is copied, and its owner disposed, at once.</summary>
    public void Add(IMemoryOwner<byte> owner, int length)
    {
        ReadOnlyMemory<byte> memory = owner.Memory[..length];
        if (length < OutboundChain.LargePayload)
        {
            // A segment and a send of its own would cost more than the copy; and no segment is ever empty, by which a message's rest is known (OutboundSegment.HeadBytes).
            Add(memory.Span);
            DeferredDisposal.Dispose(owner);
            return;
        }

        AddHeader(length, capacity: 0);
        _donated.Add(new DonatedPart(_length, owner, memory));
        _donatedBytes += length;
    }

    /// <summary>Puts the frames into a chain and becomes empty: a short message is copied, a long one handed over with its array.</summary>
    public void MoveTo(ref OutboundChain chain, BufferPool chainPool)
    {
        int position = 0;
        if (_donated.Count == 0 && _length >= OutboundChain.LargePayload && ReferenceEquals(pool, chainPool))
        {
            chain.AddArray(_array, _length);
            _array = [];
        }
        else
        {
            foreach (DonatedPart part in _donated)
            {
                chain.AddBeforeDonated(_array.AsSpan(position, part.Position - position), part.Owner, part.Memory);
                position = part.Position;
            }

            if (position < _length)
            {
                chain.AddEncoded(_array.AsSpan(position, _length - position));
            }
        }

        _donated.Clear(); // They belong to the chain now.
        Clear();
    }

    /// <summary>Copies all frames to one place.</summary>
    public void CopyTo(Span<byte> destination)
    {
        int position = 0;
        foreach (DonatedPart part in _donated)
        {
            int before = part.Position - position;
            _array.AsSpan(position, before).CopyTo(destination);
            part.Memory.Span.CopyTo(destination[before..]);
            destination = destination[(before + part.Memory.Length)..];
            position = part.Position;
        }

        _array.AsSpan(position, _length - position).CopyTo(destination);
    }

    /// <summary>Copies handed-over memory that no array is beneath, and disposes it. What has no owner any more is noticed here, while the message is whole.</summary>
    /// <exception cref="ObjectDisposedException">Handed-over memory was disposed before.</exception>
    public void PutIntoArrays(BufferPool arrays)
    {
        for (int i = 0; i < _donated.Count; i++)
        {
            DonatedPart part = _donated[i];
            if (MemoryMarshal.TryGetArray(part.Memory, out _))
            {
                continue;
            }

            ReadOnlySpan<byte> bytes = part.Memory.Span;
            IMemoryOwner<byte> copy = arrays.Rent(bytes.Length);
            bytes.CopyTo(copy.Memory.Span);
            _donated[i] = part with { Owner = copy, Memory = copy.Memory[..bytes.Length] };
            DeferredDisposal.Dispose(part.Owner);
        }
    }

    /// <summary>Puts the parts into a lease and becomes empty: the array goes over to it if it is of the lease's pool, handed-over memory by reference. Behind <see cref="PutIntoArrays"/>.</summary>
    public void MoveTo(InboundLease lease, Slab.SlabCache slabs)
    {
        Slab? slab = null;
        int position = 0;
        int donated = 0;
        while (position < _length)
        {
            int length = ZmpFrame.ReadLength(_array.AsSpan(position));
            position += ZmpFrame.HeaderSize;
            if (donated < _donated.Count && _donated[donated].Position == position)
            {
                MoveDonated(_donated[donated++], lease, slabs);
                continue;
            }

            if (slab is null)
            {
                slab = FramesTo(slabs);
            }
            else
            {
                slab.AddReference();
            }

            lease.AddPart(slab, position, length);
            position += length;
        }

        if (slab is not null && ReferenceEquals(slab.Array, _array))
        {
            _array = [];
        }

        _donated.Clear(); // They belong to the lease now.
        Clear();
    }

    /// <summary>Gives its frames away and becomes empty: the array itself if it is of the taker's pool. There are no handed-over parts.</summary>
    public Slab MoveTo(Slab.SlabCache slabs)
    {
        Slab frames = FramesTo(slabs);
        if (ReferenceEquals(frames.Array, _array))
        {
            _array = [];
        }

        Clear();
        return frames;
    }

    /// <summary>Forgets all parts; disposes memory that was handed over and not sent.</summary>
    public void Clear()
    {
        foreach (DonatedPart part in _donated)
        {
            DeferredDisposal.Dispose(part.Owner);
        }

        _donated.Clear();
        _donatedBytes = 0;
        _length = 0;
        _lastHeader = -1;
        Parts = 0;
        Version++;
    }

    /// <summary>As <see cref="Clear"/>, and gives the array back.</summary>
    public void Release()
    {
        Clear();
        if (_array.Length > 0)
        {
            pool.ReturnArray(_array);
            _array = [];
        }
    }

    private static void MoveDonated(in DonatedPart part, InboundLease lease, Slab.SlabCache slabs)
    {
        MemoryMarshal.TryGetArray(part.Memory, out ArraySegment<byte> segment); // There is one: PutIntoArrays has seen to it.
        lease.AddPart(slabs.Adopt(segment.Array!, part.Owner), segment.Offset, segment.Count);
    }

    /// <summary>A slab around the array itself if it is of the taker's pool: the caller forgets it then.</summary>
    private Slab FramesTo(Slab.SlabCache slabs)
    {
        if (ReferenceEquals(pool, slabs.Pool))
        {
            return slabs.Adopt(_array);
        }

        Slab copy = slabs.Rent(_length);
        _array.AsSpan(0, _length).CopyTo(copy.Array);
        return copy;
    }

    private Span<byte> AddHeader(int length, int capacity)
    {
        long needed = (long)_length + ZmpFrame.HeaderSize + capacity;
        if (needed > ZmpFrame.LargestBody)
        {
            throw new ArgumentException($"All copied parts of a message together take at most {ZmpFrame.LargestBody} bytes; hand larger ones over.", nameof(length));
        }

        EnsureCapacity((int)needed);
        if (_lastHeader >= 0)
        {
            _array[_lastHeader + ZmpFrame.FlagsOffset] = (byte)ZmpFlags.More;
        }

        _lastHeader = _length;
        ZmpFrame.WriteHeader(_array.AsSpan(_length), ZmpFlags.None, (uint)length);
        _length += ZmpFrame.HeaderSize;
        Parts++;
        Version++;
        return _array.AsSpan(_length);
    }

    private void EnsureCapacity(int needed)
    {
        if (needed <= _array.Length)
        {
            return;
        }

        byte[] larger = pool.RentArray((int)Math.Max(needed, Math.Min(Math.Max(SmallestArray, 2L * _array.Length), Array.MaxLength)));
        _array.AsSpan(0, _length).CopyTo(larger);
        if (_array.Length > 0)
        {
            pool.ReturnArray(_array);
        }

        _array = larger;
    }

    /// <summary>A part whose bytes are not in the array; they stand at a position in it, behind their header.</summary>
    private readonly record struct DonatedPart(int Position, IMemoryOwner<byte> Owner, ReadOnlyMemory<byte> Memory);
}
