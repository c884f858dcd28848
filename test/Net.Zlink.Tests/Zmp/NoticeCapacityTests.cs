using System.Globalization;
using System.Runtime.CompilerServices;
using System.Text;
using Net.Zlink.Tests.Protocol.Zmp;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>Subscribers of an XPUB that wait because the application has not read of others' topics yet.</summary>
public sealed class NoticeCapacityTests
{
    private const int Peers = 60;
    private const int Each = 5;

    [Fact]
    public async Task Many_peers_and_a_small_mark_cost_works_of_the_shards_by_the_topic_and_not_by_the_peer()
    {
        await using var fixture = new ContextFixture();
        (XPubSocket publisher, RawPeer[] peers) = await WaitingAsync(fixture, mark: 1);
        long before = Works(fixture);
        await ReadAsync(publisher, Peers * Each);

        // A read and the end of a turn for each topic at most, as often again where a peer finds the room taken; all peers for each would
        // be 15,000.
        Assert.InRange(Works(fixture) - before, 1, Peers * Each * 6);
        Array.ForEach(peers, static peer => peer.Dispose());
    }

    [Theory]
    [InlineData(1)]
    [InlineData(3)]
    public async Task When_peers_that_wait_are_lost_the_others_are_read_all_the_same(int mark)
    {
        await using var fixture = new ContextFixture(shards: 3);
        (XPubSocket publisher, RawPeer[] peers) = await WaitingAsync(fixture, mark);
        HashSet<string> topics = await ReadAsync(publisher, Each);
        var random = new Random(mark);
        int[] left = [.. Enumerable.Range(0, Peers)];
        random.Shuffle(left);
        foreach (int peer in left[..(Peers / 2)])
        {
            peers[peer].Reset();
            await TakeAsync(publisher, topics);
        }

        // All that the others have asked for comes.
        while (!left[(Peers / 2)..].All(peer => Enumerable.Range(0, Each).All(i => topics.Contains(Topic(peer, i)))))
        {
            await TakeAsync(publisher, topics);
        }
    }

    [Fact]
    public async Task Waiting_subscribers_are_read_when_the_high_water_mark_is_raised()
    {
        await using var fixture = new ContextFixture();
        (XPubSocket publisher, _) = await WaitingAsync(fixture, mark: 1);
        publisher.Options.ReceiveHighWaterMark = (Peers * Each) + 1;
        await fixture.UntilAsync(() => publisher.GetStatistics().UnreadMessages == Peers * Each);
        await ReadAsync(publisher, Peers * Each);
    }

    [Fact]
    public async Task A_socket_that_is_disposed_while_they_wait_ends_all_of_them()
    {
        await using var fixture = new ContextFixture();
        (XPubSocket publisher, RawPeer[] peers) = await WaitingAsync(fixture, mark: 1);
        publisher.Dispose();
        foreach (RawPeer peer in peers)
        {
            byte[] end;
            do
            {
                end = await peer.ReadAsync(1);
            }
            while (end.Length > 0); // HELLO and READY, then the end.
        }
    }

    [Fact]
    public async Task Unread_notices_of_disconnected_peers_do_not_keep_their_connections_alive()
    {
        await using var fixture = new ContextFixture();
        (XPubSocket publisher, RawPeer[] peers) = await WaitingAsync(fixture, mark: 1);
        await ReadAsync(publisher, Peers * Each);
        WeakReference[] connections = ConnectionsOf(publisher);
        publisher.Options.ReceiveHighWaterMark = null; // Of a peer that is not read nobody knows that it has gone.
        Array.ForEach(peers, static peer => peer.Reset());
        await fixture.UntilAsync(() => publisher.PeerCount == 0);
        await fixture.UntilAsync(() =>
        {
            GC.Collect();
            return connections.Count(static one => one.IsAlive) <= 1; // The shard's last work may be known to its thread's stack.
        });
        Assert.True(publisher.CanReceive);
    }

    /// <summary>A publisher and its peers, each of which has asked for several topics, in so many writes; none of which, but for what fits,
    /// has been read.</summary>
    private static async Task<(XPubSocket Publisher, RawPeer[] Peers)> WaitingAsync(ContextFixture fixture, int mark)
    {
        XPubSocket publisher = fixture.Context.CreateXPub(new XPubOptions { ReceiveHighWaterMark = mark });
        string endpoint = publisher.Bind("tcp://127.0.0.1:0");
        RawPeer[] peers = new RawPeer[Peers];
        for (int i = 0; i < Peers; i++)
        {
            peers[i] = fixture.Own(await fixture.ConnectAsync(endpoint));
            await peers[i].SendAsync(ZmpFixture.Greeting(2));
        }

        await fixture.UntilAsync(() => publisher.PeerCount == Peers);
        for (int i = 0; i < Each; i++)
        {
            for (int peer = 0; peer < Peers; peer++)
            {
                await peers[peer].SendAsync(ZmpFixture.Frame(8, Encoding.ASCII.GetBytes(Topic(peer, i))));
            }
        }

        await fixture.SettleAsync();
        return (publisher, peers);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static WeakReference[] ConnectionsOf(XPubSocket publisher) =>
        [.. publisher.Core.Links.Select(static link => new WeakReference(link.Reader))];

    private static string Topic(int peer, int i) => string.Create(CultureInfo.InvariantCulture, $"{peer}.{i}");

    private static long Works(ContextFixture fixture) => fixture.Context.GetStatistics().Shards.Sum(static shard => shard.Works);

    private static async Task<HashSet<string>> ReadAsync(XPubSocket publisher, int count)
    {
        HashSet<string> topics = new(StringComparer.Ordinal);
        while (topics.Count < count)
        {
            await TakeAsync(publisher, topics);
        }

        return topics;
    }

    private static async Task TakeAsync(XPubSocket publisher, HashSet<string> topics)
    {
        using Message notice = await publisher.ReceiveAsync(Guard.Token).Guarded();
        if (notice.Span[0] == 1)
        {
            topics.Add(Encoding.ASCII.GetString(notice.Span[1..]));
        }
    }
}
