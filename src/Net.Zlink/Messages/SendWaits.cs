using System.Buffers;
using System.Threading.Tasks.Sources;
using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Sockets.Links;

namespace Net.Zlink;

/// <summary>The sends of a socket that wait for capacity. Their objects are used again.</summary>
/// <param name="socket">The socket.</param>
/// <param name="errorOf">What a refused send throws; the number is that of a STREAM peer.</param>
internal sealed class SendWaits(SocketBase socket, Func<SendStatus, uint, Exception> errorOf)
{
    private readonly ObjectCache<Receipt> _receipts = new(WaiterNode.MaxKept);

    /// <summary>A span cannot be kept during a wait, so the rare send that waits copies its payload.</summary>
    public static IMemoryOwner<byte> CopyOf(ReadOnlySpan<byte> payload, BufferPool pool)
    {
        try
        {
            IMemoryOwner<byte> copy = pool.Rent(Math.Max(1, payload.Length));
            payload.CopyTo(copy.Memory.Span);
            return copy;
        }
        catch (OutOfMemoryException)
        {
            throw ZlinkException.NoMemory();
        }
    }

    public SendStatus Block(in SendTarget target, ReadOnlySpan<byte> payload, TimeSpan limit)
    {
        using IMemoryOwner<byte> copy = CopyOf(payload, socket.Host.Pool);
        return Block(target, new DeferredMessage(copy.Memory[..payload.Length], owner: null), limit);
    }

    public SendStatus Block(in SendTarget target, in DeferredMessage message, TimeSpan limit)
    {
        Receipt receipt = Rent(target, message, blocking: true);
        SendStatus status = socket.BlockedSends.Enqueue(receipt);
        if (status != SendStatus.Full)
        {
            _receipts.Return(receipt);
            return status;
        }

        CallerFlush.RunBeforeBlocking();
        return BlockingWait.Until(receipt, socket.BlockedSends, limit) ? receipt.GetResult(receipt.Version) : SendStatus.Full;
    }

    /// <summary><paramref name="forwarded"/>: disposed when it is sent.</summary>
    public ValueTask WaitAsync(
        in SendTarget target, in DeferredMessage message, uint peerId, in Message forwarded, CancellationToken cancellation)
    {
        Receipt receipt = Rent(target, message, blocking: false);
        receipt.PeerId = peerId;
        receipt.Forwarded = forwarded;
        SendStatus status = socket.BlockedSends.Enqueue(receipt);
        if (status == SendStatus.Full)
        {
            receipt.CancelWith(cancellation);
            return new ValueTask(receipt, receipt.Version);
        }

        receipt.Discard();
        _receipts.Return(receipt);
        Finish(status, peerId, forwarded);
        return default;
    }

    private Receipt Rent(in SendTarget target, in DeferredMessage message, bool blocking)
    {
        Receipt receipt = _receipts.Rent();
        receipt.Waits = this;
        receipt.Prepare(socket.BlockedSends, Receipt.Recycle, blocking);
        receipt.Deferred = message;
        receipt.SetTarget(target);
        return receipt;
    }

    private void Finish(SendStatus status, uint peerId, in Message forwarded)
    {
        if (status is not (SendStatus.Accepted or SendStatus.Dropped))
        {
            throw errorOf(status, peerId);
        }

        forwarded.Dispose();
    }

    private sealed class Receipt : SendWaiter, IValueTaskSource
    {
        public static readonly Action<Waiter<SendStatus>> Recycle = static waiter =>
        {
            var receipt = (Receipt)waiter;
            receipt.Waits!._receipts.Return(receipt);
        };

        public SendWaits? Waits { get; set; }

        public uint PeerId { get; set; }

        public Message Forwarded { get; set; }

        void IValueTaskSource.GetResult(short token)
        {
            (SendWaits waits, uint peerId, Message forwarded) = (Waits!, PeerId, Forwarded); // First: the result returns it for reuse.
            waits.Finish(GetResult(token), peerId, forwarded);
        }

        protected override void Clear()
        {
            base.Clear();
            Forwarded = default;
        }
    }
}
