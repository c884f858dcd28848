using System.Globalization;
using FsCheck;
using FsCheck.Fluent;
using Net.Zlink.Engine;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Sockets.Links;

public sealed class LongTurnTests
{
    private enum Kind
    {
        Publish,
        Take,
        End,
        Drop,
    }

    [Fact]
    public void A_long_turn_serves_what_one_peer_has_unread_in_however_many_reads_it_came()
    {
        using var fixture = new LongTurnFixture();
        LongTurnPeer[] peers = fixture.AddKnown(2);
        peers[0].Publish("a1", "a2");
        peers[1].Publish("b1");
        peers[0].Publish("a3");
        peers[1].Publish("b2", "b3");
        Assert.Equal(["0:a1", "0:a2", "0:a3", "1:b1", "1:b2", "1:b3"], fixture.TakeAll());
    }

    [Theory]
    [InlineData(200, 10, 256)]
    [InlineData(3, 40_000, 2)] // The second one reaches 64 KiB.
    public void A_long_turn_ends_at_256_messages_or_64_KiB(int messages, int length, int ofTurn)
    {
        using var fixture = new LongTurnFixture();
        LongTurnPeer[] peers = fixture.AddKnown(2);
        string[] read = [.. Enumerable.Repeat(new string('x', length), messages)];
        peers[0].Publish(read);
        peers[0].Publish(read);
        peers[1].Publish("b1");
        List<string> all = fixture.TakeAll();
        Assert.Equal((ofTurn, (2 * messages) + 1), (all.IndexOf("1:b1"), all.Count));
    }

    [Fact]
    public void Notices_of_a_peer_come_before_its_first_message_and_after_its_last()
    {
        using var fixture = new LongTurnFixture();
        LongTurnPeer[] known = fixture.AddKnown(1);
        known[0].Publish("a1");
        LongTurnPeer peer = fixture.Add(1);
        peer.Publish("b1");
        peer.End();
        known[0].End();
        Assert.Equal(["0:a1", "1+", "0-", "1:b1", "1-"], fixture.TakeAll());
    }

    [Fact]
    public void A_connect_comes_before_the_end_that_another_thread_announced_first()
    {
        using var fixture = new LongTurnFixture();
        var peer = new LongTurnPeer(fixture, 0, default);
        peer.End(dropUnread: true);
        peer.Announce(isEnd: false);
        Assert.Equal(["0+", "0-"], fixture.TakeAll());
    }

    [Fact]
    public void A_dropped_peer_is_announced_as_ended_and_what_it_sends_later_is_dropped_too()
    {
        using var fixture = new LongTurnFixture();
        LongTurnPeer peer = fixture.AddKnown(1)[0];
        peer.Publish("1", "2", "3");
        Assert.Equal("0:1", fixture.Take());
        peer.End(dropUnread: true);
        peer.Publish("late");
        Assert.Equal(["0-"], fixture.TakeAll());
        Assert.Equal((1, 3), (peer.Inbound.TakenMessages, peer.Inbound.DroppedMessages));
    }

    [Fact]
    public void A_peer_with_nothing_unread_is_not_read_either_until_the_messages_of_one_that_left_are_received()
    {
        using var fixture = new LongTurnFixture(totalBytes: 100);
        LongTurnPeer[] peers = fixture.AddKnown(2);
        peers[0].Publish(new string('x', 100));
        peers[0].End();
        peers[1].Publish("y");
        Assert.False(peers[1].IsReading);
        fixture.Take();
        Drain(fixture.Shard);
        Assert.True(peers[1].IsReading);
        Assert.Equal(["1:y", "0-"], fixture.TakeAll());
    }

    [Theory]
    [InlineData(150, 0, 0)] // Unread bytes of all peers, then messages and bytes of one; 0: no limit.
    [InlineData(150, 3, 0)]
    [InlineData(400, 4, 100)]
    [InlineData(0, 2, 0)]
    [InlineData(60, 1, 1)]
    public void No_peer_stays_paused_once_all_is_read_and_every_message_is_delivered_once_in_order_or_counted_as_dropped(
        long totalBytes, int peerMessages, long peerBytes)
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
        ForAllArrays(operation, 40, operations => Run(operations, totalBytes, new QueueLimits(peerMessages, peerBytes), Peers));
    }

    private static void Run((Kind Kind, int Peer, int Size)[] operations, long totalBytes, QueueLimits limits, int count)
    {
        using var fixture = new LongTurnFixture(totalBytes);
        LongTurnPeer[] peers = fixture.AddKnown(count, limits);
        var published = new int[count];
        var delivered = new int[count];
        var ended = new bool[count];
        foreach ((Kind kind, int p, int size) in operations)
        {
            switch (kind)
            {
                case Kind.Publish when peers[p].IsReading && !ended[p]:
                    string[] texts = [.. Enumerable.Range(published[p], 1 + (size % 4)).Select(n => $"{n}".PadLeft(size))];
                    published[p] += texts.Length;
                    peers[p].Publish(texts);
                    break;
                case Kind.Take:
                    Check(fixture.Take(), delivered);
                    break;
                case Kind.End or Kind.Drop when !ended[p]:
                    ended[p] = true;
                    peers[p].End(dropUnread: kind == Kind.Drop);
                    break;
            }

            Drain(fixture.Shard);
        }

        while (fixture.Take() is { } text)
        {
            Check(text, delivered);
            Drain(fixture.Shard);
        }

        for (int p = 0; p < count; p++)
        {
            Assert.True(ended[p] || peers[p].IsReading, $"Peer {p} is paused and there is nothing left to read.");
            Assert.Equal((published[p], delivered[p]), (delivered[p] + peers[p].Inbound.DroppedMessages, peers[p].Inbound.TakenMessages));
        }
    }

    private static void Check(string? text, int[] delivered)
    {
        if (text?.Split(':') is [var peer, var number])
        {
            Assert.Equal(delivered[int.Parse(peer, CultureInfo.InvariantCulture)]++,
                int.Parse(number.Trim(), CultureInfo.InvariantCulture));
        }
    }
}
