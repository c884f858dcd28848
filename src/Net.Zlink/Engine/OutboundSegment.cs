using System.Buffers;
using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Net.Zlink.Buffers;

namespace Net.Zlink.Engine;

internal sealed class OutboundSegment
{
    /// <summary>Sends of this size reach 95 % of the best loopback rate. Also the size of one read.</summary>
    public const int MaxSize = 64 * 1024;

    private const int MinSize = 2048;

    // A long message by reference uses two (header and body); short ones share one.
    private const int MaxKept = 32 * 1024;

    private static readonly ObjectCache<OutboundSegment> Cache = new(MaxKept);

    [ThreadStatic]
    // A shard that replies and writes uses one again and again: two visits to the shared cache would cost 50 ns per burst.
    private static OutboundSegment? t_cached;

    private byte[]? _array;
    private Slab? _shared;
    private int _offset;
    private IMemoryOwner<byte>? _owner;

    internal OutboundSegment? Next;

    public Memory<byte> Memory { get; private set; }

    public int Length { get; set; }

    public int Sent { get; set; }

    /// <summary>Bytes that a pending operation may have given to the kernel: lost if the connection is.</summary>
    public int Exposed { get; set; }

    /// <summary>It begins in the middle of a message, and has nothing of the next one.</summary>
    public bool IsContinuation { get; set; }

    /// <summary>The last frame's body is the next segment: nothing may come between.</summary>
    public bool EndsMidFrame { get; set; }

    public bool IsControl { get; set; }

    public bool IsSubscriptionUpdate { get; set; }

    /// <summary>How many end in it.</summary>
    public int Messages { get; set; }

    /// <summary>More may be packed into it while it is the last one.</summary>
    public bool IsOpen { get; set; }

    public bool IsEncoded => _array is not null;

    /// <summary>The array's length is not read: with a thousand peers that cache miss was a fifth of a send's time.</summary>
    public Span<byte> FreeSpan
    {
        get
        {
            byte[]? array = _array;
            int free = Memory.Length - Length;
            return array is null || free < 0
                ? default
                : MemoryMarshal.CreateSpan(ref Unsafe.Add(ref MemoryMarshal.GetArrayDataReference(array), Length), free);
        }
    }

    public static int SizeFor(int bytes) => (int)Math.Clamp(BitOperations.RoundUpToPowerOf2((uint)bytes), MinSize, MaxSize);

    public static OutboundSegment ForEncoding(byte[] array)
    {
        OutboundSegment segment = Rent();
        segment._array = array;
        segment.Memory = array;
        segment.IsOpen = true;
        return segment;
    }

    public static OutboundSegment ForShared(Slab slab, int offset, int length)
    {
        OutboundSegment segment = Rent();
        segment._shared = slab;
        segment._offset = offset;
        segment.Memory = slab.Array.AsMemory(offset, length);
        segment.Length = length;
        segment.IsOpen = true;
        return segment;
    }

    public bool TryExtend(Slab slab, int offset, int length)
    {
        if (!IsOpen || !ReferenceEquals(slab, _shared) || offset != _offset + Length)
        {
            return false;
        }

        Length += length;
        Memory = slab.Array.AsMemory(_offset, Length);
        return true;
    }

    public static OutboundSegment ForDonated(IMemoryOwner<byte> owner, ReadOnlyMemory<byte> payload)
    {
        OutboundSegment segment = Rent();
        segment._owner = owner;
        segment.Memory = MemoryMarshal.AsMemory(payload);
        segment.Length = payload.Length;
        return segment;
    }

    public void Disown(EncodedMessage? sender)
    {
        _owner = null;
        _array = sender is not null && sender.Holds(_array) ? null : _array;
    }

    public void Release(BufferPool pool)
    {
        if (_array is not null)
        {
            pool.ReturnArray(_array);
        }

        _shared?.Release();
        if (_owner is not null)
        {
            DeferredDisposal.Dispose(_owner);
        }

        _array = null;
        _shared = null;
        _owner = null;
        Memory = default;
        Next = null;
        Length = 0;
        Sent = 0;
        Exposed = 0;
        IsContinuation = false;
        EndsMidFrame = false;
        IsControl = false;
        IsSubscriptionUpdate = false;
        Messages = 0;
        IsOpen = false;
        Cache.Return(ref t_cached, this);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void ReleaseAll(OutboundSegment? first, BufferPool pool)
    {
        if (first is not null)
        {
            ReleaseChain(first, pool);
        }
    }

    private static void ReleaseChain(OutboundSegment? segment, BufferPool pool)
    {
        while (segment is not null)
        {
            OutboundSegment? next = segment.Next;
            segment.Release(pool);
            segment = next;
        }
    }

    private static OutboundSegment Rent() => Cache.Rent(ref t_cached);
}

/// <summary>
/// The segments of one message, which it shares with no other unless it is a single one. Made outside the queue's lock, and linked when it
/// is whole: a message for which no memory is left changes nothing.
/// </summary>
internal ref struct SegmentRun(BufferPool pool)
{
    public OutboundSegment? First { get; private set; }

    public OutboundSegment? Last { get; private set; }

    public long Bytes { get; private set; }

    public Span<byte> AddSpace(int length)
    {
        byte[] array = pool.RentArray(length);
        AddArray(array, length);
        return array;
    }

    public void AddArray(byte[] array, int length)
    {
        OutboundSegment segment = OutboundSegment.ForEncoding(array);
        segment.Length = length;
        Add(segment);
    }

    /// <summary>The body of the frame whose header was added last.</summary>
    public void AddBody(OutboundSegment body)
    {
        Last!.EndsMidFrame = true;
        Add(body);
    }

    /// <summary>Donated memory, and an array that was to be moved, stay with the sender.</summary>
    public readonly void Discard(EncodedMessage? sender)
    {
        for (OutboundSegment? segment = First; segment is not null; segment = segment.Next)
        {
            segment.Disown(sender);
        }

        OutboundSegment.ReleaseAll(First, pool);
    }

    private void Add(OutboundSegment segment)
    {
        Bytes += segment.Length;
        if (Last is null)
        {
            First = segment;
        }
        else
        {
            Last.Next = segment;
            Last.IsOpen = false;
            segment.IsOpen = false;
            segment.IsContinuation = true;
        }

        Last = segment;
    }
}
