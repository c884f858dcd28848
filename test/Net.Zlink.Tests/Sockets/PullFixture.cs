using System.Buffers;
using System.Runtime.CompilerServices;
using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Sockets;
using Net.Zlink.Tests.Buffers;
using Net.Zlink.Tests.Engine;
using Xunit;

namespace Net.Zlink.Tests.Sockets;

/// <summary>A pull queue with peers whose connections exist, but read only what a test gives them.</summary>
internal sealed class PullFixture : IDisposable
{
    private readonly WaiterPool<PullWaiter> _waiters = new();
    private uint _lastId;

    public PullFixture(long budget = 0, BufferPool? pool = null)
    {
        Queue = new PullQueue(budget);
        Pool = pool ?? TestPools.Create();
        Slabs = new Slab.SlabCache(Pool);
        Shard = EngineFixture.NewShard();
    }

    public PullQueue Queue { get; }

    public BufferPool Pool { get; }

    public Slab.SlabCache Slabs { get; }

    public ShardLoop Shard { get; }

    public TestPeer NewPeer(QueueLimits limits = default, bool announce = true)
    {
        var peer = new TestPeer(this, ++_lastId, limits);
        if (announce)
        {
            Queue.PublishConnected(peer.Pull);
            Assert.Equal(PulledKind.Connected, Take().Kind);
        }

        return peer;
    }

    /// <summary>Takes without waiting; there must be something.</summary>
    public PulledRun Take(int max = 1)
    {
        Assert.True(Queue.TryDequeue(max, out PulledRun run), "There was nothing to take.");
        return run;
    }

    /// <summary>Takes one message, ends it, and tells what it was: "3:hello", "3+" or "3-".</summary>
    public string TakeText() => Text(Take());

    public List<string> TakeAll()
    {
        List<string> all = [];
        while (Queue.TryDequeue(1, out PulledRun run))
        {
            all.Add(Text(run));
        }

        return all;
    }

    public static string Text(in PulledRun run)
    {
        switch (run.Kind)
        {
            case PulledKind.Connected:
                return $"{run.PeerId}+";
            case PulledKind.Disconnected:
                return $"{run.PeerId}-";
            default:
                List<string> texts = [];
                for (int slot = run.FirstSlot; slot < run.FirstSlot + run.Count; slot++)
                {
                    int generation = run.Lease!.GenerationOf(slot);
                    texts.Add(System.Text.Encoding.ASCII.GetString(run.Lease.Payload(slot, generation).Span));
                    run.Lease.Release(slot, generation);
                }

                return $"{run.PeerId}:{string.Join(',', texts)}";
        }
    }

    /// <summary>Takes, or stands in line as an awaiting consumer does. True if something was there; else it comes with the task.</summary>
    public bool TakeOrWait(out Task<PulledRun> taken, int max = 1, CancellationTokenSource? cancel = null)
    {
        PullWaiter waiter = _waiters.Rent();
        waiter.Prepare(Queue, w => _waiters.Return((PullWaiter)w), blocking: false);
        waiter.Max = max;
        if (Queue.DequeueOrWait(waiter, out PulledRun run))
        {
            _waiters.Return(waiter);
            taken = Task.FromResult(run);
            return true;
        }

        waiter.CancelWith(cancel?.Token ?? CancellationToken.None);
        taken = new ValueTask<PulledRun>(waiter, waiter.Version).AsTask();
        return false;
    }

    public Task<PulledRun> MustWait(int max = 1, CancellationTokenSource? cancel = null)
    {
        Assert.False(TakeOrWait(out Task<PulledRun> taken, max, cancel));
        return taken;
    }

    public void Dispose() => Queue.Close(static () => new ObjectDisposedException("bench"));
}

/// <summary>One peer: publishes as its connection would, and stops when it is told to.</summary>
internal sealed class TestPeer
{
    private static readonly ConnectionSettings Settings = new()
    {
        MessageLimit = 1_000_000,
        Outbound = default,
        IdleTimeout = TimeSpan.Zero,
        WriteTimeout = TimeSpan.Zero,
        Linger = TimeSpan.Zero,
        CloseTimeout = TimeSpan.Zero,
    };

    private readonly PullFixture _bench;

    public TestPeer(PullFixture bench, uint id, QueueLimits limits)
    {
        _bench = bench;
        var wire = new TestWire();
        Link = new StreamLink(id, "tcp://test", new object(), wire);
        Pull = new PullPeer(Link, limits);
        var sink = new ResumeSink(this);
        Link.Connection = new Connection(wire, bench.Shard, bench.Pool, Settings, sink, Link);

        // The connection counts as started, and as parked for ever, so that each resume comes out at the sink.
        Started(Link.Connection) = true;
        ConnectionReader reader = Reader(Link.Connection);
        Waits(reader) = false; // No wait for input was begun, so none is to end before it reads.
        Parked(reader) = true;
    }

    public StreamLink Link { get; }

    public PullPeer Pull { get; }

    public bool IsReading { get; private set; } = true;

    public int Resumes { get; private set; }

    /// <summary>Publishes messages as one read would; each text is one.</summary>
    public Delivery Publish(params string[] texts)
    {
        byte[] frames = FramesOf(texts);
        Slab slab = _bench.Slabs.Rent(Math.Max(1, frames.Length));
        frames.CopyTo(slab.Array, 0);
        return Publish(slab, frames, texts.Length);
    }

    /// <summary>The same with messages in memory of somebody's, who is disposed when the last of them has ended.</summary>
    public Delivery Publish(IMemoryOwner<byte> owner, params string[] texts)
    {
        byte[] frames = FramesOf(texts);
        return Publish(_bench.Slabs.Adopt(frames, owner), frames, texts.Length);
    }

    private static byte[] FramesOf(string[] texts) =>
        [.. texts.SelectMany(t => OutboundFixture.Frame(System.Text.Encoding.ASCII.GetBytes(t)))];

    private Delivery Publish(Slab slab, byte[] frames, int messages)
    {
        int offset = 0;
        InboundLease first = InboundLease.Open(slab, ref offset, frames.Length);
        InboundLease last = first;
        while (offset < frames.Length)
        {
            last.Next = InboundLease.Open(slab, ref offset, frames.Length);
            last = last.Next;
        }

        slab.Release();
        Delivery delivery = _bench.Queue.Publish(Pull, first, last, messages, frames.Length);
        IsReading = delivery == Delivery.Continue;
        return delivery;
    }

    public void End(bool dropUnread = false, DisconnectReason reason = DisconnectReason.Remote)
    {
        Link.TryEnd(reason);
        _bench.Queue.PublishDisconnected(Pull, dropUnread);
    }

    [UnsafeAccessor(UnsafeAccessorKind.Field, Name = "_started")]
    private static extern ref bool Started(Connection connection);

    [UnsafeAccessor(UnsafeAccessorKind.Field, Name = "_reader")]
    private static extern ref ConnectionReader Reader(Connection connection);

    [UnsafeAccessor(UnsafeAccessorKind.Field, Name = "_waits")]
    private static extern ref bool Waits(ConnectionReader reader);

    [UnsafeAccessor(UnsafeAccessorKind.Field, Name = "_paused")]
    private static extern ref bool Parked(ConnectionReader reader);

    private sealed class ResumeSink(TestPeer peer) : IConnectionSink
    {
        public bool RepliesSynchronously => false;

        public string Name => "test";

        public bool MayRead(Connection connection)
        {
            peer.Resumes++;
            peer.IsReading = peer._bench.Queue.MayRead(peer.Pull);
            return false; // It has no real connection to read from.
        }

        public void OnOpened(Connection connection) => throw new NotSupportedException();

        public Delivery OnFrames(Connection connection, in InboundBatch batch) => throw new NotSupportedException();

        public void OnClosing(Connection connection, DisconnectReason reason, string? detail) => throw new NotSupportedException();

        public void OnClosed(Connection connection) => throw new NotSupportedException();

        public void OnFault(Connection connection, Exception exception) => throw new NotSupportedException();
    }
}
