using System.Buffers;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Net.Zlink.Buffers;

namespace Net.Zlink.Engine;

/// <summary>A run of encoded bytes on its way to the wire, with the number of messages that end in it.</summary>
/// <remarks>Its bytes are of one of three kinds: a pooled array that frames are encoded into, a slab shared with other peers, or memory that the caller handed over.</remarks>
internal sealed class OutboundSegment
{
    /// <summary>The largest array for encoding: that much per send is within 5 % of the best loopback rate, and is also what one read takes.</summary>
    public const int MaxSize = 64 * 1024;

    // The first guess, for a peer that nothing is known of.
    private const int MinSize = 2048;

    // A long message that goes by reference is two of them, its header and its bytes. As many wrappers as sixteen peers have of these at marks of 1,000, in 3 MB at most; short messages share one.
    private const int MaxKept = 32 * 1024;

    private static readonly ObjectCache<OutboundSegment> Spares = new(MaxKept);

    // What a shard answers and writes out itself needs one again and again: two visits of the queue would be 50 ns a burst.
    [ThreadStatic]
    private static OutboundSegment? t_spare;

    private byte[]? _array;
    private Slab? _shared;
    private int _offset;
    private IMemoryOwner<byte>? _owner;

    internal OutboundSegment? Next;

    /// <summary>The bytes; <see cref="Length"/> of them are valid.</summary>
    public Memory<byte> Memory { get; private set; }

    public int Length { get; set; }

    /// <summary>How many of the bytes the kernel has taken.</summary>
    public int Sent { get; set; }

    /// <summary>How many of the bytes an operation that is still pending may have given to the kernel: after a loss these count as gone.</summary>
    public int Exposed { get; set; }

    /// <summary>Bytes at the start that belong to a message which began in an earlier segment.</summary>
    public int HeadBytes { get; set; }

    /// <summary>Bytes at the start that are left out: the rest of a message that was cut off by a loss.</summary>
    public int Skipped { get; set; }

    /// <summary>The last frame's header is here and its body in the next segment: nothing may come between them.</summary>
    public bool EndsMidFrame { get; set; }

    /// <summary>Protocol frames that stand beside the messages: in no count, and lost with the connection.</summary>
    public bool IsControl { get; set; }

    /// <summary>Whole messages that say what has changed and nothing else: of no use behind a loss, where the peer is told all anew.</summary>
    public bool IsSubscriptionUpdate { get; set; }

    /// <summary>Messages whose last byte is in this segment.</summary>
    public int Messages { get; set; }

    /// <summary>True while frames may be appended: a pooled array, or a run of received frames, that is not being sent.</summary>
    public bool IsOpen { get; set; }

    /// <summary>Its bytes were encoded or copied into an array of its own.</summary>
    public bool IsEncoded => _array is not null;

    /// <summary>Room to encode into: none in a segment that is no array of its own.</summary>
    /// <remarks>The array's own length is not looked at: it lies at the array's start, far from where the next byte goes, and with a thousand peers in no cache (a fifth of a send's time).</remarks>
    public Span<byte> FreeSpan
    {
        get
        {
            byte[]? array = _array;
            int free = Memory.Length - Length;
            return array is null || free < 0 ? default : MemoryMarshal.CreateSpan(ref Unsafe.Add(ref MemoryMarshal.GetArrayDataReference(array), Length), free);
        }
    }

    /// <summary>How large an array to encode so much into: one of four sizes, each a class of the pool that has to fill its own reserve before it allocates nothing more.</summary>
    public static int SizeFor(int bytes)
    {
        int size = MinSize;
        while (size < bytes && size < MaxSize)
        {
            size *= 4;
        }

        return Math.Min(size, MaxSize);
    }

    public static OutboundSegment ForEncoding(byte[] array)
    {
        OutboundSegment segment = Rent();
        segment._array = array;
        segment.Memory = array;
        segment.IsOpen = true;
        return segment;
    }

    /// <summary>Bytes of a slab; takes over one reference to it.</summary>
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

    /// <summary>Takes in bytes of the same slab that lie right behind its own. False if they do not, or it is being sent.</summary>
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

    /// <summary>Gives the bytes back to whoever owns them and keeps the wrapper for reuse.</summary>
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
        HeadBytes = 0;
        Skipped = 0;
        EndsMidFrame = false;
        IsControl = false;
        IsSubscriptionUpdate = false;
        Messages = 0;
        IsOpen = false;
        Spares.Return(ref t_spare, this);
    }

    /// <summary>As <see cref="Release"/>, of a segment and all that are linked to it. Null as a rule, where a message is sent: one look.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void ReleaseAll(OutboundSegment? first, BufferPool pool)
    {
        if (first is not null)
        {
            ReleaseChain(first, pool);
        }
    }

    /// <summary>Links one chain behind another.</summary>
    public static void Append(ref OutboundSegment? first, OutboundSegment? more)
    {
        if (first is not { } last)
        {
            first = more;
            return;
        }

        while (last.Next is { } next)
        {
            last = next;
        }

        last.Next = more;
    }

    /// <summary>What is news of a segment and of all that are linked to it.</summary>
    public static (int Messages, long Bytes) UpdatesIn(OutboundSegment? first)
    {
        (int messages, long bytes) = (0, 0);
        for (OutboundSegment? segment = first; segment is not null; segment = segment.Next)
        {
            if (segment.IsSubscriptionUpdate)
            {
                messages += segment.Messages;
                bytes += segment.Length - segment.Skipped;
            }
        }

        return (messages, bytes);
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

    private static OutboundSegment Rent() => Spares.TryRent(ref t_spare, out OutboundSegment? segment) ? segment : new OutboundSegment();
}
