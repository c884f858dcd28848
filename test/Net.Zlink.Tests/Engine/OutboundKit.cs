using System.Buffers;
using System.Buffers.Binary;
using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Protocol;
using Net.Zlink.Protocol.Stream;
using Net.Zlink.Sockets.Links;

namespace Net.Zlink.Tests.Engine;

/// <summary>An outbound queue with a hand that writes, for tests.</summary>
internal sealed class OutboundFixture : IDisposable
{
    private readonly ObjectCache<SendWaiter> _waiters = new(WaiterNode.MaxKept);
    private readonly BlockedSendQueue _blockedSends;
    private OutboundSegment? _writing;

    public OutboundFixture(BufferPool pool, QueueLimits limits, ContextQuota? quota = null, FrameFormat? format = null)
    {
        Pool = pool;
        Slabs = new Slab.SlabCache(pool);
        _blockedSends = new BlockedSendQueue(waiter => Queue!.TryAppend(waiter.Deferred.AsOutgoing(), out _));
        Queue = new OutboundQueue(pool, format ?? StreamFraming.Format, limits, quota)
        {
            CapacityAvailable = () => _blockedSends.Retry([], connection: null),
        };
    }

    public BufferPool Pool { get; }

    public OutboundQueue Queue { get; init; }

    public Slab.SlabCache Slabs { get; }

    /// <summary>All bytes that were written.</summary>
    public List<byte> Wire { get; } = [];

    public SendStatus Status => _blockedSends.HasEarlierWaiter(default) ? SendStatus.Full : Queue.Status;

    public static byte[] Frame(byte[] payload)
    {
        var frame = new byte[payload.Length + 4];
        BinaryPrimitives.WriteUInt32BigEndian(frame, (uint)payload.Length);
        payload.CopyTo(frame, 4);
        return frame;
    }

    public SendStatus Append(byte[] payload) =>
        _blockedSends.HasEarlierWaiter(default) ? SendStatus.Full : Queue.TryAppend(new OutgoingMessage(payload), out _);

    public SendStatus AppendShared(byte[] payload)
    {
        Slab slab = Slabs.Rent(payload.Length + 4);
        Frame(payload).CopyTo(slab.Array, 0);
        SendStatus status = _blockedSends.HasEarlierWaiter(default) ? SendStatus.Full
            : Queue.TryAppendShared(slab, 0, payload.Length + 4, 1, out _);
        slab.Release();
        return status;
    }

    /// <summary>Appends or waits; a null wait means that the outcome is known at once.</summary>
    public (SendStatus Status, Task<SendStatus>? Wait) AppendOrWait(
        byte[] payload, IMemoryOwner<byte>? owner = null, CancellationTokenSource? cancel = null)
    {
        SendWaiter waiter = _waiters.Rent();
        waiter.Prepare(_blockedSends, w => _waiters.Return((SendWaiter)w), blocking: false);
        ReadOnlyMemory<byte> memory = owner is null ? payload : owner.Memory[..payload.Length];
        waiter.Deferred = new DeferredMessage(memory, owner);
        SendStatus status = _blockedSends.Enqueue(waiter);
        if (status != SendStatus.Full)
        {
            waiter.Discard();
            _waiters.Return(waiter);
            return (status, null);
        }

        waiter.CancelWith(cancel?.Token ?? CancellationToken.None);
        return (status, new ValueTask<SendStatus>(waiter, waiter.Version).AsTask());
    }

    /// <summary>Writes one segment; null when there was none.</summary>
    public (int Messages, int Bytes)? WriteOne()
    {
        OutboundSegment? segment = _writing ?? Queue.NextToWrite(several: true);
        if (segment is null)
        {
            return null;
        }

        (int, int) written = (segment.Messages, segment.Length);
        Wire.AddRange(segment.Memory.Span[..segment.Length]);
        _writing = Queue.Written(segment, several: true);
        return written;
    }

    /// <summary>Takes a segment for writing and leaves it there, as a connection does whose kernel buffer is full.</summary>
    public OutboundSegment? BeginWrite() => _writing ??= Queue.NextToWrite(several: true);

    /// <summary>Gives back the segment that was being written when the connection ended.</summary>
    public void ReleaseWriting()
    {
        Queue.ReleaseInFlight(_writing);
        _writing = null;
    }

    public void WriteAll()
    {
        while (WriteOne() is not null)
        {
            // All of it.
        }
    }

    public void Dispose()
    {
        Queue.Abandon();
        ReleaseWriting();
    }
}

/// <summary>Memory that an application hands over; knows how often it was disposed.</summary>
internal sealed class CountingOwner(byte[] bytes) : MemoryManager<byte>
{
    private int _disposals;

    public int Disposals => Volatile.Read(ref _disposals);

    /// <summary>Runs inside Dispose, as an application's own code would.</summary>
    public Action? OnDispose { get; init; }

    public override Span<byte> GetSpan()
    {
        ObjectDisposedException.ThrowIf(Disposals > 0, this);
        return bytes;
    }

    public override MemoryHandle Pin(int elementIndex = 0) => bytes.AsMemory(elementIndex).Pin();

    public override void Unpin()
    {
        // The handle that Pin gave does that by itself.
    }

    protected override void Dispose(bool disposing)
    {
        Interlocked.Increment(ref _disposals);
        OnDispose?.Invoke();
    }
}

internal static class EncodedMessageExtensions
{
    public static void Add(this EncodedMessage message, ReadOnlySpan<byte> part) => part.CopyTo(message.AddSpace(part.Length));
}
