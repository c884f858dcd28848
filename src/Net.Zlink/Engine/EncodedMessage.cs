using System.Buffers;
using System.Runtime.InteropServices;
using Net.Zlink.Buffers;
using Net.Zlink.Protocol;

namespace Net.Zlink.Engine;

/// <summary>A message built part by part: frames in one pooled array, and donated memory beside it. Not thread-safe.</summary>
internal sealed class EncodedMessage(BufferPool pool, FrameFormat format)
{
    private const int SmallestArray = 256;

    private readonly List<DonatedPart> _donated = [];
    private byte[] _array = [];
    private int _length;
    private int _lastHeader = -1;
    private int _lastLength;
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
        int length = format.ReadLength(_array.AsSpan(at.Position), out _);
        at.Index++;
        at.Position += format.HeaderSize;
        if (at.Donated < _donated.Count && _donated[at.Donated].Position == at.Position)
        {
            return _donated[at.Donated++].Memory.Span;
        }

        ReadOnlySpan<byte> part = _array.AsSpan(at.Position, length);
        at.Position += length;
        return part;
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
        int start = format.HeaderSize + _written;
        EnsureCapacity(Fitting((long)_length + start + Math.Max(length, 1)));
        Version++;
        return _array.AsMemory(_length + start);
    }

    public bool TryAdvance(int length)
    {
        bool fits = length <= _array.Length - _length - format.HeaderSize - _written;
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
        if (length < OutgoingMessage.LargePayload)
        {
            // A segment and a send of its own would cost more, and a segment may not be empty.
            memory.Span.CopyTo(AddSpace(length));
            DeferredDisposal.Dispose(owner);
            return;
        }

        AddHeader(length, capacity: 0);
        _donated.Add(new DonatedPart(_length, owner, memory));
        _donatedBytes += length;
    }

    public bool Holds(byte[]? array) => ReferenceEquals(array, _array);

    /// <summary>It is unchanged until <see cref="OnMoved"/>.</summary>
    public void AddTo(ref SegmentRun run, BufferPool target)
    {
        if (MovesTo(target))
        {
            run.AddArray(_array, _length);
            return;
        }

        int position = 0;
        foreach (DonatedPart part in _donated)
        {
            _array.AsSpan(position, part.Position - position).CopyTo(run.AddSpace(part.Position - position));
            run.AddBody(OutboundSegment.ForDonated(part.Owner, part.Memory));
            position = part.Position;
        }

        if (position < _length)
        {
            _array.AsSpan(position, _length - position).CopyTo(run.AddSpace(_length - position));
        }
    }

    public void OnMoved(BufferPool target)
    {
        _array = MovesTo(target) ? [] : _array;
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
            int length = format.ReadLength(_array.AsSpan(position), out _);
            position += format.HeaderSize;
            if (donated < _donated.Count && _donated[donated].Position == position)
            {
                DonatedPart part = _donated[donated++];
                MemoryMarshal.TryGetArray(part.Memory, out ArraySegment<byte> segment);
                lease.AddPart(slabs.Adopt(segment.Array!, part.Owner), segment.Offset, segment.Count);
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

    private bool MovesTo(BufferPool target) =>
        _donated.Count == 0 && _length >= format.HeaderSize + OutgoingMessage.LargePayload && ReferenceEquals(pool, target);

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
        EnsureCapacity(Fitting((long)_length + format.HeaderSize + capacity));
        if (_lastHeader >= 0)
        {
            format.WriteHeader(_array.AsSpan(_lastHeader), _lastLength, continues: true);
        }

        _lastHeader = _length;
        _lastLength = length;
        format.WriteHeader(_array.AsSpan(_length), length, continues: false);
        _length += format.HeaderSize;
        Parts++;
        Version++;
        return _array.AsSpan(_length);
    }

    private static int Fitting(long length) => length <= FrameFormat.LargestBody
        ? (int)length
        : throw new ArgumentException(
            $"The copied parts of a message hold at most {FrameFormat.LargestBody} bytes together; add larger parts without copying.",
            nameof(length));

    private void EnsureCapacity(int needed)
    {
        if (needed <= _array.Length)
        {
            return;
        }

        byte[] larger = pool.RentArray((int)Math.Max(needed, Math.Min(Math.Max(SmallestArray, 2L * _array.Length), Array.MaxLength)));
        _array.AsSpan(0, _written == 0 ? _length : _length + format.HeaderSize + _written).CopyTo(larger);
        if (_array.Length > 0)
        {
            pool.ReturnArray(_array);
        }

        _array = larger;
    }

    private readonly record struct DonatedPart(int Position, IMemoryOwner<byte> Owner, ReadOnlyMemory<byte> Memory);
}

/// <summary>
/// In an encoded message only the earlier parts tell where a part begins: a search from the start took seconds for 100,000 parts.
/// </summary>
internal struct PartCursor
{
    public int Index;

    public int Position;

    public int Donated;
}
