using Net.Zlink.Buffers;
using Net.Zlink.Transports;

namespace Net.Zlink.Engine;

/// <summary>
/// Reads a connection's bytes into its shard's slab, and retains the incomplete frame behind those that were taken. A short tail is copied
/// to a pooled buffer and put before the next read. A frame longer than <see cref="OwnBufferFrame"/> is read into a buffer of its own,
/// which grows with what has arrived (at most twice that), whatever the header announces: 8 hostile bytes allocate nothing.
/// </summary>
internal struct FrameReader(Wire wire, ReceiveSlab slabs, BufferPool pool)
{
    // Shorter frames are joined by a copy: up to 8 KiB (0.2 us) is cheaper than a system call for the rest of one frame.
    private const int OwnBufferFrame = Wire.Headroom;

    // 1,000 peers that announce much and send little hold 8 MB.
    private const int SmallestOwnBuffer = 8 * 1024;

    // After a large frame another is likely: a read into its own buffer saves the copy.
    private const int LargestExpected = 256 * 1024;

    // After a still larger frame, reading just the next header costs 0.5 us and saves the copy of up to 64 KiB of body (6 us).
    private const int PrefetchSize = 1024;

    private byte[]? _tail;
    private int _tailLength;
    private Slab? _own;
    private int _ownLength;
    private int _ownTotal;
    private int _expected;

    public readonly int BufferedBytes => _own is null ? _tailLength : _ownLength;

    public readonly int RetainedMemory => _own?.Array.Length ?? _tailLength;

    /// <summary>
    /// Done: more may be there; WouldWait: all was read. The bytes are valid until the next call, or until their own slab is released.
    /// There are none if nothing came, or if a long frame is still incomplete. <see cref="TryKeep"/> gets what is not taken of them.
    /// </summary>
    public WireStatus Read(int mostBytes, out InboundBytes bytes)
    {
        bytes = default;
        if (_own is not null)
        {
            return ReadOwn(out bytes);
        }

        if (mostBytes == int.MaxValue && !slabs.ShouldCopy)
        {
            if (wire.TryDetachBuffer(out byte[]? array, out int start, out int taken))
            {
                bytes = BehindTail(slabs.Adopt(array), start - _tailLength, taken, ownsSlab: true);
                return WireStatus.WouldWait;
            }

            if (_expected > Math.Max(PrefetchSize, _tailLength))
            {
                return ReadExpected(out bytes);
            }
        }

        Slab slab = slabs.Acquire(_tailLength, out int offset, out int length);
        int wanted = Math.Min(_expected > 0 ? Math.Min(PrefetchSize, mostBytes) : mostBytes, length - _tailLength);
        _expected = 0;
        WireStatus status = Receive(wire, slab.Array.AsSpan(offset + _tailLength, wanted), out int received);
        if (received > 0)
        {
            bytes = BehindTail(slab, offset, received, ownsSlab: false);
        }

        return status;
    }

    /// <summary>Keeps what is behind the whole frames. True: it stays in the slab of these bytes, which the reader owns again.</summary>
    public bool TryKeep(in InboundBytes bytes, in InboundResult taken)
    {
        bool isOwn = bytes.OwnsSlab && !wire.HasOwnBuffer;
        if (isOwn)
        {
            Expect(taken.Frames > 0 ? taken.Consumed / taken.Frames : taken.NextFrameSize);
        }

        ReadOnlySpan<byte> rest = bytes.Span[taken.Consumed..];
        if (rest.IsEmpty)
        {
            return false;
        }

        if (taken.NextFrameSize <= OwnBufferFrame)
        {
            _tail = pool.RentArray(rest.Length);
            rest.CopyTo(_tail);
            _tailLength = rest.Length;
            return false;
        }

        // Not if full: a read into an empty span would look like the peer's end.
        int size = bytes.Slab.Array.Length;
        bool stays = isOwn && taken.Frames == 0 && 2 * rest.Length >= size && rest.Length < size;
        _own = stays ? bytes.Slab : CopyOf(rest, taken.NextFrameSize);
        _ownLength = rest.Length;
        _ownTotal = taken.NextFrameSize;
        return stays;
    }

    public static WireStatus Discard(Wire wire, ReceiveSlab slabs, ref long discarded)
    {
        Slab slab = slabs.Acquire(0, out int offset, out int length);
        WireStatus status = Receive(wire, slab.Array.AsSpan(offset, length), out int received);
        discarded += received;
        return status;
    }

    public void Release()
    {
        DropTail();
        _own?.Release();
        _own = null;
    }

    private WireStatus ReadExpected(out InboundBytes bytes)
    {
        bytes = default;
        Slab slab = slabs.RentOwn(_expected);
        WireStatus status = Receive(wire, slab.Array.AsSpan(_tailLength, _expected - _tailLength), out int received);
        int available = _tailLength + received;
        if (received > 0 && available >= _expected / 4)
        {
            bytes = BehindTail(slab, 0, received, ownsSlab: true);
            return status;
        }

        try
        {
            if (received > 0)
            {
                _expected = 0;
                Slab packed = slabs.Acquire(available, out int offset, out _);
                slab.Array.AsSpan(_tailLength, received).CopyTo(packed.Array.AsSpan(offset + _tailLength));
                bytes = BehindTail(packed, offset, received, ownsSlab: false);
            }
        }
        finally
        {
            slab.Release();
        }

        return status;
    }

    private void Expect(int size) => _expected = size <= OwnBufferFrame ? 0
        : size > LargestExpected ? PrefetchSize
        : size * Math.Max(1, ReceiveSlab.ReadSize / size);

    /// <summary>What was received lies behind the place for the tail, which begins at the offset.</summary>
    private InboundBytes BehindTail(Slab slab, int offset, int received, bool ownsSlab)
    {
        int length = _tailLength + received;
        _tail?.AsSpan(0, _tailLength).CopyTo(slab.Array.AsSpan(offset));
        DropTail();
        return new InboundBytes(slab, offset, length, ownsSlab);
    }

    private WireStatus ReadOwn(out InboundBytes bytes)
    {
        bytes = default;
        Slab own = _own!;
        int capacity = Math.Min(own.Array.Length, _ownTotal) - _ownLength;
        WireStatus status = Receive(wire, own.Array.AsSpan(_ownLength, capacity), out int received);
        _ownLength += received;
        if (_ownLength == _ownTotal)
        {
            bytes = new InboundBytes(own, 0, _ownTotal, OwnsSlab: true);
            _own = null;
        }
        else if (_ownLength == own.Array.Length)
        {
            own.Grow(_ownLength, (int)Math.Min(_ownTotal, Math.Max(2L * _ownLength, (long)_ownLength + wire.Available)));
        }

        return status;
    }

    private static WireStatus Receive(Wire wire, Span<byte> into, out int received)
    {
        WireStatus status = wire.Receive(into, out received);
        return status == WireStatus.Done && received < into.Length ? WireStatus.WouldWait : status;
    }

    /// <summary>A header alone must not allocate more than what has arrived warrants.</summary>
    private readonly Slab CopyOf(ReadOnlySpan<byte> beginning, int frameSize)
    {
        long arrived = Math.Max(2L * beginning.Length, (long)beginning.Length + wire.Available);
        Slab own = slabs.RentOwn((int)Math.Min(frameSize, Math.Max(SmallestOwnBuffer, arrived)));
        beginning.CopyTo(own.Array);
        return own;
    }

    private void DropTail()
    {
        if (_tail is not null)
        {
            pool.ReturnArray(_tail);
            _tail = null;
            _tailLength = 0;
        }
    }
}

/// <summary>
/// Valid during the call, unless the slab is referenced. <paramref name="OwnsSlab"/>: The slab holds only these bytes, and the connection
/// releases its reference after the call.
/// </summary>
internal readonly record struct InboundBytes(Slab Slab, int Offset, int Length, bool OwnsSlab)
{
    public ReadOnlySpan<byte> Span => Slab.Array.AsSpan(Offset, Length);
}

/// <summary>
/// What a sink has taken of the bytes, the size of the next frame (0: not known yet), and as <see cref="IConnectionSink.MostToRead"/> what
/// it takes next. <paramref name="UnfinishedBytes"/>: The memory of parts whose message is incomplete.
/// </summary>
internal readonly record struct InboundResult(int Consumed, int Frames, int NextFrameSize, int MostToRead, long UnfinishedBytes = 0);

/// <summary>
/// The buffer that all connections of one shard read into, so that an idle connection holds none. While nobody retains any of it, each read
/// overwrites the last: handlers that reply in place use the same warm 64 KiB.
/// </summary>
internal sealed class ReceiveSlab(Slab.SlabCache slabs, int size = ReceiveSlab.FullSize)
{
    // Four full reads, so that pull consumers share a slab.
    private const int FullSize = 256 * 1024;

    /// <summary>
    /// For shards of tls and ws, where reads of 8 KiB and more have own buffers: there are many such shards, each with a slab.
    /// </summary>
    public const int SmallSize = 64 * 1024;

    /// <summary>Larger reads gained nothing on loopback and exceed the L2 cache.</summary>
    public const int ReadSize = 64 * 1024;

    private const int SmallestRead = 16 * 1024;

    private Slab? _slab;
    private int _position;

    public Slab Acquire(int needed, out int offset, out int length)
    {
        if (_slab is not null && _slab.IsExclusive)
        {
            _position = 0;
        }

        if (_slab is null || _slab.Array.Length - _position < needed + SmallestRead)
        {
            Release(); // Before the rent, which may fail.
            _slab = slabs.Rent(size);
            _position = 0;
        }

        offset = _position;
        length = Math.Min(_slab.Array.Length - _position, needed + ReadSize);
        return _slab;
    }

    public void Retain(Slab slab, int end)
    {
        if (ReferenceEquals(slab, _slab))
        {
            _position = end;
        }
    }

    public bool ShouldCopy => slabs.IsOverBudget;

    public Slab RentOwn(int size) => slabs.Rent(size);

    public Slab Copy(ReadOnlySpan<byte> bytes) => slabs.Copy(bytes);

    public Slab Adopt(byte[] array) => slabs.Adopt(array);

    public void Release()
    {
        _slab?.Release();
        _slab = null;
    }
}
