using System.Buffers;
using System.Runtime.InteropServices;
using Net.Zlink.Buffers;
using Net.Zlink.Protocol.Zmp;

namespace Net.Zlink.Engine;

/// <summary>A message built part by part: ZMP frames in one pooled array, and donated memory beside it. Not thread-safe.</summary>
internal sealed class EncodedMessage(BufferPool pool)
{
    private const int SmallestArray = 256;

    private readonly List<DonatedPart> _donated = [];
    private byte[] _array = [];
    private int _length;
    private int _lastHeader = -1;
    private long _donatedBytes;
    private int _written;

    public BufferPool Pool => pool;

    public int Parts { get; private set; }

    /// <summary>Changes with each edit: a waiting send detects by it that its message is no longer the same.</summary>
    public int Version { get; private set; }

    public long TotalLength => _length + _donatedBytes;

    public bool HasDonated => _donated.Count > 0;

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

    public void Add(ReadOnlySpan<byte> part)
    {
        part.CopyTo(AddHeader(part.Length, part.Length));
        _length += part.Length;
    }

    public Span<byte> AddSpace(int length)
    {
        Span<byte> space = AddHeader(length, length)[..length];
        _length += length;
        return space;
    }

    public bool HasOpenPart => _written > 0;

    public Memory<byte> GetSpace(int length)
    {
        int start = ZmpFrame.HeaderSize + _written;
        EnsureCapacity(Fitting((long)_length + start + Math.Max(length, 1)));
        Version++;
        return _array.AsMemory(_length + start);
    }

    public bool TryAdvance(int length)
    {
        bool fits = length <= _array.Length - _length - ZmpFrame.HeaderSize - _written;
        _written += fits ? length : 0;
        return fits;
    }

    public void EndPart()
    {
        AddHeader(_written, _written);
        _length += _written;
        _written = 0;
    }

    public void Add(IMemoryOwner<byte> owner, int length)
    {
        ReadOnlyMemory<byte> memory = owner.Memory[..length];
        if (length < OutboundChain.LargePayload)
        {
            // A segment and a send of its own would cost more. Also, OutboundSegment.HeadBytes relies on segments never being empty.
            Add(memory.Span);
            DeferredDisposal.Dispose(owner);
            return;
        }

        AddHeader(length, capacity: 0);
        _donated.Add(new DonatedPart(_length, owner, memory));
        _donatedBytes += length;
    }

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

        _donated.Clear();
        Clear();
    }

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

    /// <summary>Copies donated memory that no array backs, and disposes it.</summary>
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

        _donated.Clear();
        Clear();
    }

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

    public void Clear()
    {
        foreach (DonatedPart part in _donated)
        {
            DeferredDisposal.Dispose(part.Owner);
        }

        _donated.Clear();
        _donatedBytes = 0;
        _length = 0;
        _written = 0;
        _lastHeader = -1;
        Parts = 0;
        Version++;
    }

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
        MemoryMarshal.TryGetArray(part.Memory, out ArraySegment<byte> segment);
        lease.AddPart(slabs.Adopt(segment.Array!, part.Owner), segment.Offset, segment.Count);
    }

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
        EnsureCapacity(Fitting((long)_length + ZmpFrame.HeaderSize + capacity));
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

    private static int Fitting(long length) => length <= ZmpFrame.LargestBody
        ? (int)length
        : throw new ArgumentException(
            $"The copied parts of a message hold at most {ZmpFrame.LargestBody} bytes together; add larger parts without copying.",
            nameof(length));

    private void EnsureCapacity(int needed)
    {
        if (needed <= _array.Length)
        {
            return;
        }

        byte[] larger = pool.RentArray((int)Math.Max(needed, Math.Min(Math.Max(SmallestArray, 2L * _array.Length), Array.MaxLength)));
        _array.AsSpan(0, _written == 0 ? _length : _length + ZmpFrame.HeaderSize + _written).CopyTo(larger);
        if (_array.Length > 0)
        {
            pool.ReturnArray(_array);
        }

        _array = larger;
    }

    private readonly record struct DonatedPart(int Position, IMemoryOwner<byte> Owner, ReadOnlyMemory<byte> Memory);
}
