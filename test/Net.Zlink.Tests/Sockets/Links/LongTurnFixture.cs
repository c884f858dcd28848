using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Tests.Buffers;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Sockets.Links;

/// <summary>A receive queue as STREAM has it: long turns, notices of peers, a limit for all of them.</summary>
internal sealed class LongTurnFixture(long totalBytes = 0) : IDisposable
{
    public ReceiveQueue Queue => field ??= new ReceiveQueue(isInArrivalOrder: false, ReceiveQueue.LongTurn, Total);

    public SocketQuota? Total { get; } = SocketQuota.Of(totalBytes);

    public BufferPool Pool { get; } = TestPools.Create();

    public ShardLoop Shard { get; } = NewShard();

    public LongTurnPeer Add(int id, QueueLimits limits = default)
    {
        var peer = new LongTurnPeer(this, id, limits);
        peer.Announce(isEnd: false);
        return peer;
    }

    public LongTurnPeer[] AddKnown(int count, QueueLimits limits = default)
    {
        LongTurnPeer[] peers = [.. Enumerable.Range(0, count).Select(id => Add(id, limits))];
        Assert.Equal(peers.Select(static peer => $"{peer.Id}+"), TakeAll(), StringComparer.Ordinal);
        return peers;
    }

    /// <summary>Takes one message and ends it: "3:hello", "3+" for its connect, "3-" for its end.</summary>
    public string? Take()
    {
        if (!Queue.TryDequeue(out DequeuedMessage dequeued))
        {
            return null;
        }

        int id = ((LongTurnPeer)dequeued.Link).Id;
        return dequeued.Notice switch
        {
            LaneNotice.Connected => $"{id}+",
            LaneNotice.Disconnected => $"{id}-",
            _ => $"{id}:{dequeued.End()}",
        };
    }

    public List<string> TakeAll()
    {
        List<string> all = [];
        while (Take() is { } text)
        {
            all.Add(text);
        }

        return all;
    }

    public void Dispose()
    {
        Queue.Close(static () => new ObjectDisposedException("fixture"));
        Assert.Equal(0, Pool.GetStatistics().Live);
        Pool.Dispose();
    }
}

internal sealed class LongTurnPeer : LaneOwner
{
    private readonly LongTurnFixture _fixture;
    private readonly PausedReader? _reader;

    public LongTurnPeer(LongTurnFixture fixture, int id, QueueLimits limits)
    {
        _fixture = fixture;
        Id = id;
        Lane = new InboundLane(limits, context: null, fixture.Total) { NotifiesOfConnect = true };
        Lane.BelongTo(this);
        _reader = fixture.Total is { } total ? new PausedReader(total.PausedReaders, fixture.Shard, Resume) : null;
    }

    public int Id { get; }

    public InboundLane Lane { get; }

    public bool IsReading { get; private set; } = true;

    public override Connection? Reader => null;

    public override QueueCounts Outbound => default;

    public override QueueCounts Inbound => Lane.Counts;

    /// <summary>Publishes messages as one read does.</summary>
    public void Publish(params string[] texts)
    {
        InboundLease lease = TestLink.LeaseOf(new Slab.SlabCache(_fixture.Pool), this, texts);
        IsReading = _fixture.Queue.Publish(Lane, lease) && MayReadOfAll();
    }

    public void End(bool dropUnread = false)
    {
        if (dropUnread)
        {
            _fixture.Queue.Drop(Lane);
        }

        _fixture.Total?.PausedReaders.Remove(_reader);
        Announce(isEnd: true);
    }

    public void Announce(bool isEnd)
    {
        if (Lane.AddNotice(isEnd))
        {
            _fixture.Queue.Enqueue(Lane, messages: 0);
        }
    }

    public override UndeliveredLink Undelivered(long messages, long bytes) => default;

    public override void OnLaneCapacity() => Resume();

    private void Resume() => IsReading = Lane.MayRead() && MayReadOfAll();

    private bool MayReadOfAll() => _fixture.Total?.PausedReaders is not { } paused
        || paused.MayRead(_reader, mayOvertake: true) || !paused.Add(_reader!, mayOvertake: true);
}
