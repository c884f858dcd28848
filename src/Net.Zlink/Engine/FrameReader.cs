using Net.Zlink.Buffers;
using Net.Zlink.Transports;

namespace Net.Zlink.Engine;

/// <summary>What one read ended in.</summary>
internal enum ReadOutcome
{
    /// <summary>Nothing more to read now: wait for readiness.</summary>
    Drained,

    /// <summary>The read was full: there may be more.</summary>
    More,

    /// <summary>The peer has ended its side.</summary>
    EndOfStream,

    /// <summary>The peer broke the transport's own protocol and has been told.</summary>
    Refused,

    /// <summary>The connection is broken.</summary>
    Failed,
}

/// <summary>Reads one connection's bytes into its shard's slab and cuts them into whole frames; keeps what is left of an incomplete one.</summary>
/// <remarks>
/// A short tail waits in a pooled buffer of its own size and is put in front of the next read. A frame longer than <see cref="OwnBufferFrame"/> is
/// received straight into a buffer of its own, which grows with what has arrived (at most twice that), whatever the header announces: 8 hostile
/// bytes buy nothing. Touched only on the shard.
/// </remarks>
internal struct FrameReader
{
    // Shorter frames are put together in the slab, or in front of what the wire hands over: copying up to 8 KiB (0.2 us) beats a system call that fetches only the rest of one frame.
    private const int OwnBufferFrame = Wire.Headroom;

    // A frame's own buffer starts at no less than this, so that the first growths of a slow sender's frame are not one per packet; 1,000 peers that announce much and send little hold 8 MB.
    private const int SmallestOwnBuffer = 8 * 1024;

    // Behind a large frame the next one is likely to be as large: read straight into a buffer for it, it costs one system call and no copy. Not past this size: whatever comes next, the read needs that buffer.
    private const int LargestExpected = 256 * 1024;

    // Behind one that is larger still, a short look at the next header costs 0.5 us, and spares the copy of what a full read would bring of its body (6 us for 64 KiB).
    private const int PrefetchSize = 1024;

    private byte[]? _tail;
    private int _tailLength;
    private Slab? _own;
    private int _ownLength;
    private int _ownTotal;
    private int _expected;

    /// <summary>The last scan met something that breaks the protocol, behind the batch.</summary>
    public bool IsBroken { get; private set; }

    /// <summary>The length that the broken frame announced.</summary>
    public uint Announced { get; private set; }

    /// <summary>Bytes of an incomplete frame that have arrived.</summary>
    public readonly int BufferedBytes => _own is null ? _tailLength : _ownLength;

    /// <summary>The memory that is held for it.</summary>
    public readonly int RetainedMemory => _own?.Array.Length ?? _tailLength;

    /// <summary>True while part of a frame has arrived.</summary>
    public readonly bool IsMidFrame => _tailLength > 0 || _own is not null;

    /// <summary>Reads once. Where whole frames are in, <paramref name="batch"/> has them, readable until the next call or, where it owns its slab, until that is released.</summary>
    public ReadOutcome Read(Wire wire, ReceiveSlab slabs, BufferPool pool, IFrameScanner scanner, out InboundBatch batch)
    {
        batch = default;
        if (_own is not null)
        {
            return ReadOwn(wire, out batch);
        }

        int most = scanner.MaxBytesToRead(_tailLength);

        // Past the budget what is kept should be copied, so it is, into the shard's slab.
        if (most == int.MaxValue && !slabs.ShouldCopy)
        {
            if (wire.TryDetachBuffer(out byte[]? array, out int start, out int taken))
            {
                return Consume(slabs.Adopt(array), start, taken, wire, slabs, pool, scanner, out batch);
            }

            if (_expected > Math.Max(PrefetchSize, _tailLength) && !wire.HasOwnBuffer)
            {
                return ReadExpected(wire, slabs, pool, scanner, out batch);
            }
        }

        Slab slab = slabs.Acquire(_tailLength, out int offset, out int length);
        int wanted = Math.Min(_expected > 0 ? Math.Min(PrefetchSize, most) : most, length - _tailLength);
        _expected = 0;
        ReadOutcome outcome = Receive(wire, slab.Array.AsSpan(offset + _tailLength, wanted), out int received);
        if (received == 0)
        {
            return outcome;
        }

        batch = Split(slab, offset, received, ownsSlab: false, wire, slabs, pool, scanner);
        return outcome;
    }

    /// <summary>Reads and throws away, into the shard's slab: what a closing connection does with what still comes.</summary>
    public static ReadOutcome Discard(Wire wire, ReceiveSlab slabs, ref long discarded)
    {
        Slab slab = slabs.Acquire(0, out int offset, out int length);
        ReadOutcome outcome = Receive(wire, slab.Array.AsSpan(offset, length), out int received);
        discarded += received;
        return outcome;
    }

    /// <summary>Gives back whatever is held of an incomplete frame.</summary>
    public void Release(BufferPool pool)
    {
        DropTail(pool);
        _own?.Release();
        _own = null;
    }

    /// <summary>As one read that left nothing behind, of bytes that are in a buffer of their own already.</summary>
    private ReadOutcome Consume(Slab slab, int start, int length, Wire wire, ReceiveSlab slabs, BufferPool pool, IFrameScanner scanner, out InboundBatch batch)
    {
        _expected = 0;
        batch = Split(slab, start - _tailLength, length, ownsSlab: true, wire, slabs, pool, scanner);
        if (batch.Frames == 0)
        {
            slab.Release();
        }

        return ReadOutcome.Drained;
    }

    /// <summary>Reads as much as frames like the last one take, into a buffer that goes on with them. What is far less is packed like any other read.</summary>
    private ReadOutcome ReadExpected(Wire wire, ReceiveSlab slabs, BufferPool pool, IFrameScanner scanner, out InboundBatch batch)
    {
        batch = default;
        Slab slab = slabs.RentOwn(_expected);
        ReadOutcome outcome = Receive(wire, slab.Array.AsSpan(_tailLength, _expected - _tailLength), out int received);
        int available = _tailLength + received;
        if (received > 0 && available >= _expected / 4)
        {
            batch = SplitOwnBuffer(slab, available, wire, slabs, pool, scanner);
            return outcome;
        }

        if (received > 0)
        {
            _expected = 0;
            Slab packed = slabs.Acquire(available, out int offset, out _);
            slab.Array.AsSpan(_tailLength, received).CopyTo(packed.Array.AsSpan(offset + _tailLength));
            batch = Split(packed, offset, received, ownsSlab: false, wire, slabs, pool, scanner);
        }

        slab.Release();
        return outcome;
    }

    /// <summary>Finds the frames in a buffer of their own, which is passed on with them, kept for the rest of a large one, or given back.</summary>
    private InboundBatch SplitOwnBuffer(Slab slab, int available, Wire wire, ReceiveSlab slabs, BufferPool pool, IFrameScanner scanner)
    {
        FrameScan scan = Scan(slab.Array.AsSpan(0, available), pool, scanner);
        Expect(scan.Frames > 0 ? scan.Consumed / scan.Frames : scan.NextFrameSize);
        int left = available - scan.Consumed;
        if (left > 0 && !scan.IsBroken)
        {
            // Not when it is full: a read into no room would look like the peer's end.
            if (scan.Frames == 0 && scan.NextFrameSize > OwnBufferFrame && 2 * available >= slab.Array.Length && available < slab.Array.Length)
            {
                (_own, _ownLength, _ownTotal) = (slab, available, scan.NextFrameSize);
                return default;
            }

            KeepPartialFrame(slab.Array.AsSpan(scan.Consumed, left), scan.NextFrameSize, wire, slabs, pool);
        }

        if (scan.Frames > 0)
        {
            return new InboundBatch(slab, 0, scan.Consumed, scan.Frames, OwnsSlab: true);
        }

        slab.Release();
        return default;
    }

    /// <summary>The peer sends frames of this size.</summary>
    private void Expect(int size) => _expected = size <= OwnBufferFrame ? 0
        : size > LargestExpected ? PrefetchSize
        : size * Math.Max(1, ReceiveSlab.ReadSize / size);

    /// <summary>Finds the frames in what was received behind the room for the tail, which starts at <paramref name="offset"/>, and keeps what is left of the last one.</summary>
    private InboundBatch Split(Slab slab, int offset, int received, bool ownsSlab, Wire wire, ReceiveSlab slabs, BufferPool pool, IFrameScanner scanner)
    {
        int available = _tailLength + received;
        FrameScan scan = Scan(slab.Array.AsSpan(offset, available), pool, scanner);
        int left = available - scan.Consumed;
        if (left > 0 && !scan.IsBroken)
        {
            KeepPartialFrame(slab.Array.AsSpan(offset + scan.Consumed, left), scan.NextFrameSize, wire, slabs, pool);
        }

        return scan.Frames > 0 ? new InboundBatch(slab, offset, scan.Consumed, scan.Frames, ownsSlab) : default;
    }

    /// <summary>Puts the tail in its room at the start, and finds the frames in all of it.</summary>
    private FrameScan Scan(Span<byte> bytes, BufferPool pool, IFrameScanner scanner)
    {
        _tail?.AsSpan(0, _tailLength).CopyTo(bytes);
        DropTail(pool);
        FrameScan scan = scanner.Scan(bytes);
        IsBroken = scan.IsBroken;
        Announced = scan.Announced;
        return scan;
    }

    private ReadOutcome ReadOwn(Wire wire, out InboundBatch batch)
    {
        batch = default;
        Slab own = _own!;
        int capacity = Math.Min(own.Array.Length, _ownTotal) - _ownLength;
        ReadOutcome outcome = Receive(wire, own.Array.AsSpan(_ownLength, capacity), out int received);
        _ownLength += received;
        if (_ownLength == _ownTotal)
        {
            batch = new InboundBatch(own, 0, _ownTotal, 1, OwnsSlab: true);
            _own = null;
            Expect(_ownTotal);
        }
        else if (_ownLength == own.Array.Length)
        {
            own.Grow(_ownLength, (int)Math.Min(_ownTotal, Math.Max(2L * _ownLength, (long)_ownLength + wire.Available)));
        }

        return outcome;
    }

    private static ReadOutcome Receive(Wire wire, Span<byte> into, out int received) => wire.Receive(into, out received) switch
    {
        WireStatus.Done => received == into.Length ? ReadOutcome.More : ReadOutcome.Drained,
        WireStatus.WouldWait => ReadOutcome.Drained,
        WireStatus.Ended => ReadOutcome.EndOfStream,
        WireStatus.Refused => ReadOutcome.Refused,
        _ => ReadOutcome.Failed,
    };

    private void KeepPartialFrame(ReadOnlySpan<byte> rest, int frameSize, Wire wire, ReceiveSlab slabs, BufferPool pool)
    {
        if (frameSize > OwnBufferFrame)
        {
            // Memory for what has arrived already is not bought with a header alone.
            int capacity = (int)Math.Min(frameSize, Math.Max(Math.Max(SmallestOwnBuffer, 2L * rest.Length), (long)rest.Length + wire.Available));
            _own = slabs.RentOwn(capacity);
            rest.CopyTo(_own.Array);
            _ownLength = rest.Length;
            _ownTotal = frameSize;
            return;
        }

        _tail = pool.RentArray(rest.Length);
        rest.CopyTo(_tail);
        _tailLength = rest.Length;
    }

    private void DropTail(BufferPool pool)
    {
        if (_tail is not null)
        {
            pool.ReturnArray(_tail);
            _tail = null;
            _tailLength = 0;
        }
    }
}
