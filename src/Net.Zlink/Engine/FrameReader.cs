using Net.Zlink.Buffers;
using Net.Zlink.Protocol;
using Net.Zlink.Transports;

namespace Net.Zlink.Engine;

/// <summary>
/// Reads a connection's bytes into its shard's slab, splits them into whole frames, and retains an incomplete one. A short tail is copied
/// to a pooled buffer and put before the next read. A frame longer than <see cref="OwnBufferFrame"/> is read into a buffer of its own,
/// which grows with what has arrived (at most twice that), whatever the header announces: 8 hostile bytes allocate nothing.
/// </summary>
internal struct FrameReader(Wire wire, ReceiveSlab slabs, BufferPool pool, IFrameScanner scanner)
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

    public bool IsBroken { get; private set; }

    /// <summary>Of the partial frame behind a batch, which is to be delivered first.</summary>
    public bool IsOutOfMemory { get; private set; }

    public uint Announced { get; private set; }

    public readonly int BufferedBytes => _own is null ? _tailLength : _ownLength;

    public readonly int RetainedMemory => _own?.Array.Length ?? _tailLength;

    /// <summary>
    /// Done: more may be there; WouldWait: all was read. The batch is valid until the next call, or until its own slab is released.
    /// </summary>
    public WireStatus Read(out InboundBatch batch)
    {
        batch = default;
        if (_own is not null)
        {
            return ReadOwn(out batch);
        }

        int maxBytes = scanner.MaxBytesToRead(_tailLength);

        if (maxBytes == int.MaxValue && !slabs.ShouldCopy)
        {
            if (wire.TryDetachBuffer(out byte[]? array, out int start, out int taken))
            {
                return Consume(slabs.Adopt(array), start, taken, out batch);
            }

            if (_expected > Math.Max(PrefetchSize, _tailLength) && !wire.HasOwnBuffer)
            {
                return ReadExpected(out batch);
            }
        }

        Slab slab = slabs.Acquire(_tailLength, out int offset, out int length);
        int wanted = Math.Min(_expected > 0 ? Math.Min(PrefetchSize, maxBytes) : maxBytes, length - _tailLength);
        _expected = 0;
        WireStatus status = Receive(wire, slab.Array.AsSpan(offset + _tailLength, wanted), out int received);
        if (received == 0)
        {
            return status;
        }

        batch = Split(slab, offset, received, ownsSlab: false);
        return status;
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

    private WireStatus Consume(Slab slab, int start, int length, out InboundBatch batch)
    {
        _expected = 0;
        batch = Split(slab, start - _tailLength, length, ownsSlab: true);
        if (batch.Frames == 0)
        {
            slab.Release();
        }

        return WireStatus.WouldWait;
    }

    private WireStatus ReadExpected(out InboundBatch batch)
    {
        batch = default;
        Slab slab = slabs.RentOwn(_expected);
        WireStatus status = Receive(wire, slab.Array.AsSpan(_tailLength, _expected - _tailLength), out int received);
        int available = _tailLength + received;
        if (received > 0 && available >= _expected / 4)
        {
            batch = SplitOwnBuffer(slab, available);
            return status;
        }

        try
        {
            if (received > 0)
            {
                _expected = 0;
                Slab packed = slabs.Acquire(available, out int offset, out _);
                slab.Array.AsSpan(_tailLength, received).CopyTo(packed.Array.AsSpan(offset + _tailLength));
                batch = Split(packed, offset, received, ownsSlab: false);
            }
        }
        finally
        {
            slab.Release();
        }

        return status;
    }

    private InboundBatch SplitOwnBuffer(Slab slab, int available)
    {
        FrameScan scan = Scan(slab.Array.AsSpan(0, available));
        Expect(scan.Frames > 0 ? scan.Consumed / scan.Frames : scan.NextFrameSize);
        int left = available - scan.Consumed;
        if (left > 0 && !scan.IsBroken)
        {
            // Not if full: a read into an empty span would look like the peer's end.
            bool isLarge = scan.Frames == 0 && scan.NextFrameSize > OwnBufferFrame;
            if (isLarge && 2 * available >= slab.Array.Length && available < slab.Array.Length)
            {
                (_own, _ownLength, _ownTotal) = (slab, available, scan.NextFrameSize);
                return default;
            }

            KeepPartialFrame(slab.Array.AsSpan(scan.Consumed, left), scan.NextFrameSize);
        }

        if (scan.Frames > 0)
        {
            return new InboundBatch(slab, 0, scan.Consumed, scan.Frames, OwnsSlab: true);
        }

        slab.Release();
        return default;
    }

    private void Expect(int size) => _expected = size <= OwnBufferFrame ? 0
        : size > LargestExpected ? PrefetchSize
        : size * Math.Max(1, ReceiveSlab.ReadSize / size);

    private InboundBatch Split(Slab slab, int offset, int received, bool ownsSlab)
    {
        int available = _tailLength + received;
        FrameScan scan = Scan(slab.Array.AsSpan(offset, available));
        int left = available - scan.Consumed;
        if (left > 0 && !scan.IsBroken)
        {
            KeepPartialFrame(slab.Array.AsSpan(offset + scan.Consumed, left), scan.NextFrameSize);
        }

        return scan.Frames > 0 ? new InboundBatch(slab, offset, scan.Consumed, scan.Frames, ownsSlab) : default;
    }

    private FrameScan Scan(Span<byte> bytes)
    {
        _tail?.AsSpan(0, _tailLength).CopyTo(bytes);
        DropTail();
        FrameScan scan = scanner.Scan(bytes);
        IsBroken = scan.IsBroken;
        Announced = scan.Announced;
        return scan;
    }

    private WireStatus ReadOwn(out InboundBatch batch)
    {
        batch = default;
        Slab own = _own!;
        int capacity = Math.Min(own.Array.Length, _ownTotal) - _ownLength;
        WireStatus status = Receive(wire, own.Array.AsSpan(_ownLength, capacity), out int received);
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

        return status;
    }

    private static WireStatus Receive(Wire wire, Span<byte> into, out int received)
    {
        WireStatus status = wire.Receive(into, out received);
        return status == WireStatus.Done && received < into.Length ? WireStatus.WouldWait : status;
    }

    private void KeepPartialFrame(ReadOnlySpan<byte> tail, int frameSize)
    {
        try
        {
            CopyPartialFrame(tail, frameSize);
        }
        catch (OutOfMemoryException)
        {
            IsOutOfMemory = true;
        }
    }

    private void CopyPartialFrame(ReadOnlySpan<byte> tail, int frameSize)
    {
        if (frameSize > OwnBufferFrame)
        {
            // A header alone must not allocate more than what has arrived warrants.
            long arrived = Math.Max(2L * tail.Length, (long)tail.Length + wire.Available);
            int capacity = (int)Math.Min(frameSize, Math.Max(SmallestOwnBuffer, arrived));
            _own = slabs.RentOwn(capacity);
            tail.CopyTo(_own.Array);
            _ownLength = tail.Length;
            _ownTotal = frameSize;
            return;
        }

        _tail = pool.RentArray(tail.Length);
        tail.CopyTo(_tail);
        _tailLength = tail.Length;
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
