using FsCheck;
using FsCheck.Fluent;
using Net.Zlink.Engine;
using Net.Zlink.Sockets;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Sockets;

/// <summary>Random traffic of many peers under marks and a total budget.</summary>
public sealed class PullQueuePropertyTests
{
    private enum Kind
    {
        Publish,
        Take,
        End,
        Drop,
    }

    [Theory]
    [InlineData(150, 0, 0)] // Unread bytes of all peers, then messages and bytes of one; 0: no limit.
    [InlineData(150, 3, 0)]
    [InlineData(400, 4, 100)]
    [InlineData(0, 2, 0)]
    [InlineData(60, 1, 1)]
    public void No_peer_stays_parked_once_all_is_read_and_every_message_is_delivered_once_or_counted_as_dropped(
        long budget, int peerMessages, long peerBytes)
    {
        const int Peers = 12;
        Gen<(Kind Kind, int Peer, int Size)> operation =
            from k in Gen.Frequency(
                (30, Gen.Constant(Kind.Publish)),
                (16, Gen.Constant(Kind.Take)),
                (1, Gen.Constant(Kind.End)),
                (2, Gen.Constant(Kind.Drop)))
            from p in Gen.Choose(0, Peers - 1)
            from s in Gen.Choose(1, 60)
            select (k, p, s);
        ForAllArrays(operation, 40, operations => Run(operations, budget, new QueueLimits(peerMessages, peerBytes), Peers));
    }

    private static void Run((Kind Kind, int Peer, int Size)[] operations, long budget, QueueLimits limits, int count)
    {
        using var bench = new PullFixture(budget);
        TestPeer[] peers = [.. Enumerable.Range(0, count).Select(_ => bench.NewPeer(limits))];
        var published = new int[count];
        var delivered = new int[count];
        var ended = new bool[count];
        foreach ((Kind kind, int p, int size) in operations)
        {
            TestPeer peer = peers[p];
            switch (kind)
            {
                case Kind.Publish when peer.IsReading && !ended[p]:
                    string[] texts = [.. Enumerable.Range(published[p], 1 + (size % 4)).Select(n => $"{n}".PadLeft(size))];
                    published[p] += texts.Length;
                    peer.Publish(texts);
                    break;
                case Kind.Take:
                    if (bench.Queue.TryDequeue(1 + (size % 5), out PulledRun run))
                    {
                        Check(run, delivered);
                    }

                    break;
                case Kind.End or Kind.Drop when !ended[p]:
                    ended[p] = true;
                    peer.End(dropUnread: kind == Kind.Drop);
                    break;
            }

            if (kind != Kind.Publish)
            {
                Drain(bench.Shard); // What was resumed asks whether it may read.
            }
        }

        while (bench.Queue.TryDequeue(3, out PulledRun run))
        {
            Check(run, delivered);
            Drain(bench.Shard);
        }

        for (int p = 0; p < count; p++)
        {
            Assert.True(ended[p] || peers[p].IsReading, $"Peer {p + 1} is parked and there is nothing left to read.");
            Assert.Equal(published[p], delivered[p] + peers[p].Pull.Dropped);
            Assert.Equal(delivered[p], peers[p].Pull.Delivered);
        }

        Assert.Equal((0, 0, 0, peers.Sum(p => p.Pull.Dropped)), bench.Queue.Depth);
        Assert.Equal(0, bench.Pool.GetStatistics().Live);
    }

    private static void Check(in PulledRun run, int[] delivered)
    {
        string text = PullFixture.Text(run);
        if (run.Kind == PulledKind.Data)
        {
            foreach (string number in text.Split(':')[1].Split(','))
            {
                Assert.Equal(delivered[run.PeerId - 1]++, int.Parse(number.Trim(), System.Globalization.CultureInfo.InvariantCulture));
            }
        }
    }
}
