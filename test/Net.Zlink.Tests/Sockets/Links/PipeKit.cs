using System.Text;
using Microsoft.Extensions.Logging.Abstractions;
using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Tests.Buffers;
using Net.Zlink.Tests.Engine;
using Xunit;

namespace Net.Zlink.Tests.Sockets.Links;

/// <summary>A socket's inside without a pattern: what it sends goes where the test says.</summary>
internal sealed class TestCore : SocketCore, IDisposable
{
    private TestCore(EngineHost host, ZmpSocketType type)
        : base(host, type)
    {
    }

    public delegate SendStatus Router(byte[] routeId, byte[] payload);

    /// <summary>What becomes of a message.</summary>
    public Router Routing { get; set; } = (_, _) => SendStatus.Full;

    /// <summary>What a SUB would want.</summary>
    public Predicate<string> Wanted { get; set; } = _ => true;

    public override bool CanSend => true;

    public override InboundRole InboundRole => Type == ZmpSocketType.Sub ? InboundRole.Filtered : InboundRole.All;

    /// <param name="type">Of the socket that this is like as far as receiving goes.</param>
    public static TestCore Create(ZmpSocketType type = ZmpSocketType.Pair) =>
        new(new EngineHost(1, TestPools.Create(), TimeProvider.System, NullLogger.Instance, new RecordingObserver()), type);

    public override bool Accepts(ReadOnlySpan<byte> firstPart) => Wanted(Encoding.ASCII.GetString(firstPart));

    /// <summary>It wants less from now on.</summary>
    public void WantOnly(char first)
    {
        Wanted = text => text.StartsWith(first);
        Narrowed();
    }

    /// <summary>As a SUB does when it wants less.</summary>
    public void Narrowed() => OnFilterChanged();

    public override SendStatus Route(ReadOnlySpan<byte> routeId, in OutgoingMessage message) =>
        Routing(routeId.ToArray(), message.Payload.ToArray());

    /// <summary>Ends it; every rented buffer must be back.</summary>
    public void Dispose()
    {
        Assert.Equal(0, Host.Pool.GetStatistics().Live);
        Host.Dispose();
        Host.Pool.Dispose();
    }

    protected override bool Attach(PeerLink link) => true;

    protected override void Remove(PeerLink link)
    {
    }
}

/// <summary>A pipe of which only the lane is real.</summary>
internal sealed class TestLink : PeerLink
{
    private int _resumed;

    private TestLink(SocketCore socket, InboundLane lane)
        : base(socket, lane)
    {
    }

    public int Resumed => Volatile.Read(ref _resumed);

    /// <summary>Runs when the sender is told of room.</summary>
    public Action? OnRoom { get; set; }

    /// <summary>Runs when its books are looked at.</summary>
    public Action? Counted { get; set; }

    public override QueueCounts Outbound
    {
        get
        {
            Counted?.Invoke();
            return default;
        }
    }

    public override FullCause FullCause => FullCause.Messages;

    public override bool HasCapacity => false;

    public override bool IsConnected => true;

    public static TestLink Create(SocketCore socket, QueueLimits limits, bool conflates = false, bool isShared = false,
        ContextQuota? quota = null)
    {
        var pipe = new TestLink(socket, new InboundLane(limits, quota) { Conflates = conflates, IsShared = isShared })
        {
            Endpoint =
            "test",
            IsActive = false,
            IsAttached = true
        };
        pipe.Lane.BelongTo(pipe);
        return pipe;
    }

    /// <summary>Publishes messages of one part, as a read from the wire does.</summary>
    public bool Publish(params string[] texts) => Publish(LeaseOf(texts));

    public bool Publish(InboundLease lease) => Socket.Receive.Publish(Lane, lease);

    /// <summary>The same, to be published.</summary>
    public InboundLease LeaseOf(params string[] texts) => LeaseOf(Socket.Host.Slabs, Peer, texts);

    /// <summary>As one read brings them.</summary>
    public static InboundLease LeaseOf(Slab.SlabCache slabs, object source, string[] texts)
    {
        Slab slab = slabs.Rent(texts.Sum(static text => text.Length) + 1);
        InboundLease lease = InboundLease.Rent(slab, source);
        int offset = 0;
        foreach (string text in texts)
        {
            Encoding.ASCII.GetBytes(text, slab.Array.AsSpan(offset));
            lease.AddPart(offset, text.Length);
            lease.EndMessage();
            offset += text.Length;
        }

        return lease;
    }

    /// <summary>Appends a message as a sender in this process does.</summary>
    public SendStatus Append(string text, int passedAt = 0) => Append(Lane, text, passedAt);

    /// <summary>The same, to a lane that may have had no link yet.</summary>
    public SendStatus Append(InboundLane lane, string text, int passedAt = 0)
    {
        var message = new OutgoingMessage(Encoding.ASCII.GetBytes(text));
        SendStatus status = lane.Append(message, Socket.Host.Slabs, Peer, out bool announces, checkedAt: passedAt);
        if (announces)
        {
            Socket.Receive.Enqueue(lane, messages: 1);
        }

        return status;
    }

    public override SendStatus TrySend(in OutgoingMessage message, bool force = false) => SendStatus.Full;

    public override void SendOwn(ZmpFlags flags, ReadOnlySpan<byte> body)
    {
    }

    public override void OnLaneCapacity()
    {
        Interlocked.Increment(ref _resumed);
        OnRoom?.Invoke();
    }

    public override void SetLimits(QueueLimits outbound, QueueLimits inbound) => Lane.SetLimits(inbound);

    public override void Close(DisconnectReason reason, TimeSpan linger)
    {
    }

    public override void Abort()
    {
    }
}

/// <summary>Taking from a receive queue, as text.</summary>
internal static class TakingExtensions
{
    extension(ReceiveQueue queue)
    {
        /// <summary>Takes and ends the next message; null if there is none.</summary>
        public string? Take() => queue.TryDequeue(out DequeuedMessage dequeued) ? dequeued.End() : null;

        /// <summary>Takes and ends so many; "none" where there is none.</summary>
        public string[] Take(int count) => [.. Enumerable.Range(0, count).Select(_ => queue.Take() ?? "none")];

        /// <summary>Takes and ends the next message; the calling thread blocks until there is one, as in a blocking receive.</summary>
        public string TakeBlocking()
        {
            var waiter = new ReceiveWaiter();
            waiter.Prepare(queue, recycle: null, blocking: true);
            if (queue.DequeueOrWait(waiter, out DequeuedMessage dequeued))
            {
                return dequeued.End();
            }

            Assert.True(BlockingWait.Until(waiter, queue, EngineFixture.Patience), "No message came.");
            return waiter.GetResult(waiter.Version).End();
        }

        /// <summary>Waits for a message; a message that is there already is the result.</summary>
        public Task<DequeuedMessage> Wait() => queue.WaitCancellable(CancellationToken.None);

        /// <summary>As Wait, until it is cancelled.</summary>
        public Task<DequeuedMessage> WaitCancellable(CancellationToken cancellation)
        {
            var waiter = new ReceiveWaiter();
            waiter.Prepare(queue, recycle: null, blocking: false);
            if (queue.DequeueOrWait(waiter, out DequeuedMessage dequeued))
            {
                return Task.FromResult(dequeued);
            }

            waiter.CancelWith(cancellation);
            return new ValueTask<DequeuedMessage>(waiter, waiter.Version).AsTask();
        }
    }

    extension(DequeuedMessage dequeued)
    {
        /// <summary>Reads and ends a message of one part.</summary>
        public string End()
        {
            int generation = dequeued.Lease.GenerationOf(dequeued.Slot);
            string text = Encoding.ASCII.GetString(dequeued.Lease.Part(dequeued.Slot, 0, generation).Span);
            Assert.Equal(1, dequeued.Lease.PartsOf(dequeued.Slot));
            dequeued.Lease.Release(dequeued.Slot, generation);
            return text;
        }
    }
}
