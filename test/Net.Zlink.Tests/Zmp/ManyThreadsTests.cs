using System.Text;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>
/// Eight threads on one socket, four that send and four that receive, each by all the ways there are in turn (Try, blocking, async, in
/// batches); each peer has one of both. Low marks make the sends wait.
/// Every message arrives once, whole, and in its sender's order.
/// </summary>
public sealed class ManyThreadsTests
{
    private const int Threads = 4;
    private static readonly int PerSender = SlowTests.Rounds(300, all: 1_500);
    private static readonly string[] Names = ["A", "B", "C"];

    // What the peers' senders are called in their messages: the hub's are 0, 1, 2, 3.
    private const int FirstPeer = 100;

    [Theory]
    [InlineData("tcp://127.0.0.1:0")]
    [SlowInlineData("ipc://*")]
    [InlineData("inproc://threads")]
    public async Task Eight_threads_on_a_PAIR(string endpoint)
    {
        await using var fixture = new ContextFixture();
        PairSocket hub = fixture.Context.CreatePair(Low(new PairOptions()));
        PairSocket peer = fixture.Context.CreatePair(Low(new PairOptions()));
        peer.Connect(hub.Bind(endpoint));
        await PlayAsync(hub, [peer], _ => SendingWays.Of(hub));
    }

    [Theory]
    [InlineData("tcp://127.0.0.1:0")]
    [SlowInlineData("ipc://*")]
    [InlineData("inproc://threads")]
    public async Task Eight_threads_on_a_DEALER_with_three_peers(string endpoint)
    {
        await using var fixture = new ContextFixture();
        DealerSocket hub = fixture.Context.CreateDealer(Low(new DealerOptions()));
        DealerSocket[] peers = await ConnectAsync(fixture, hub, endpoint);
        await PlayAsync(hub, peers, _ => SendingWays.Of(hub));
    }

    [Theory]
    [InlineData("tcp://127.0.0.1:0")]
    [SlowInlineData("ipc://*")]
    [InlineData("inproc://threads")]
    public async Task Eight_threads_on_a_ROUTER_with_three_peers(string endpoint)
    {
        await using var fixture = new ContextFixture();
        RouterSocket hub = fixture.Context.CreateRouter(Low(new RouterOptions { Mandatory = true }));
        DealerSocket[] peers = await ConnectAsync(fixture, hub, endpoint);
        await PlayAsync(hub, peers, number => SendingWays.Of(hub, Encoding.ASCII.GetBytes(Names[number])));
    }

    [Theory]
    [InlineData("tcp://127.0.0.1:0", false)]
    [InlineData("tcp://127.0.0.1:0", true)]
    [SlowInlineData("ipc://*", false)]
    [InlineData("inproc://threads", false)]
    [InlineData("inproc://threads", true)]
    public async Task Eight_threads_publish_and_every_subscriber_gets_each_ones_messages_whole_and_in_order(
        string endpoint, bool isExtended)
    {
        const int Publishers = 2 * Threads;
        await using var fixture = new ContextFixture();
        PubSocket? pub = isExtended ? null : fixture.Context.CreatePub(Low(new PubOptions { NoDrop = true }));
        XPubSocket? xpub = isExtended ? fixture.Context.CreateXPub(Low(new XPubOptions { NoDrop = true })) : null;
        string bound = pub?.Bind(endpoint) ?? xpub!.Bind(endpoint);
        SubSocket[] subscribers = [.. Names.Select(_ => fixture.Context.CreateSub(Low(new SubOptions())))];
        for (int i = 0; i < subscribers.Length; i++)
        {
            // The second topic is the subscriber's own: when the publisher has them all, it has heard all that each said.
            subscribers[i].Subscribe("t"u8);
            subscribers[i].Subscribe(Encoding.ASCII.GetBytes(Names[i]));
            subscribers[i].Connect(bound);
        }

        await fixture.UntilAsync(() => (pub?.TopicCount ?? xpub!.TopicCount) == 1 + subscribers.Length);
        var threads = new TestThreads();
        for (int i = 0; i < Publishers; i++)
        {
            int sender = i;
            threads.Start(() =>
            {
                using SendingWays ways = pub is null ? SendingWays.Of(xpub!) : SendingWays.Of(pub);
                for (int number = 0; number < PerSender; number++)
                {
                    ways.Send(sender, number, "t"u8);
                }
            });
        }

        foreach (SubSocket subscriber in subscribers)
        {
            threads.Start(() =>
            {
                int[] next = new int[Publishers];
                var ways = new ReceivingWays(subscriber);
                for (int have = 0; have < Publishers * PerSender;)
                {
                    have += ways.Receive(message =>
                    {
                        (int sender, int number) = Numbered.Check(message, topicLength: 1);
                        Assert.Equal(next[sender]++, number);
                    });
                }
            });
        }

        await threads.JoinAsync(() => subscribers.Sum(static s => s.GetStatistics().DeliveredMessages));
        Assert.All(subscribers, static s => Assert.False(s.TryReceive(out _)));
    }

    [Theory]
    [InlineData("tcp://127.0.0.1:0")]
    [SlowInlineData("ipc://*")]
    [InlineData("inproc://threads")]
    public async Task Four_threads_send_on_an_XSUB_and_four_receive_on_its_XPUB(string endpoint)
    {
        // No low marks: an XSUB does not wait, it drops.
        await using var fixture = new ContextFixture();
        XPubSocket publisher = fixture.Context.CreateXPub();
        XSubSocket subscriber = fixture.Context.CreateXSub();
        subscriber.Connect(publisher.Bind(endpoint));
        await PlayOneWayAsync(() => SendingWays.Of(subscriber), publisher);
    }

    [Theory]
    [InlineData("tcp://127.0.0.1:0")]
    [SlowInlineData("ipc://*")]
    [InlineData("inproc://threads")]
    public async Task Four_threads_publish_and_four_receive_on_the_one_SUB(string endpoint)
    {
        await using var fixture = new ContextFixture();
        PubSocket publisher = fixture.Context.CreatePub(Low(new PubOptions { NoDrop = true }));
        SubSocket subscriber = fixture.Context.CreateSub(Low(new SubOptions()));
        subscriber.Subscribe([]);
        subscriber.Connect(publisher.Bind(endpoint));
        await fixture.UntilAsync(() => publisher.TopicCount == 1);
        await PlayOneWayAsync(() => SendingWays.Of(publisher), subscriber);
    }

    [Theory]
    [InlineData("tcp://127.0.0.1:0")]
    [InlineData("inproc://threads")]
    public async Task Eight_threads_subscribe_and_cancel_and_the_publisher_ends_with_what_is_left(string endpoint)
    {
        const int Topics = 50;
        await using var fixture = new ContextFixture();
        XPubSocket publisher = fixture.Context.CreateXPub();
        SubSocket subscriber = fixture.Context.CreateSub();
        subscriber.Connect(publisher.Bind(endpoint));
        var threads = new TestThreads();
        for (int i = 0; i < 2 * Threads; i++)
        {
            byte name = (byte)('a' + i);
            threads.Start(() =>
            {
                // All threads hold "x" now and then; each topic of its own ends up subscribed if its number is even.
                for (byte topic = 0; topic < Topics; topic++)
                {
                    subscriber.Subscribe([name, topic]);
                    subscriber.Subscribe("x"u8);
                    if (topic % 2 == 1)
                    {
                        subscriber.Unsubscribe([name, topic]);
                    }

                    subscriber.Unsubscribe("x"u8);
                }
            });
        }

        await threads.JoinAsync(() => subscriber.GetStatistics().AcceptedMessages);
        // A connection that comes later is told of all topics in their own order.
        await fixture.UntilAsync(() => subscriber.GetPeers().Any(static p => p.IsConnected));
        subscriber.Subscribe("end"u8);
        HashSet<string> held = [];
        for (bool ended = false; !ended;)
        {
            using Message updates = await publisher.ReceiveAsync(Guard.Token).Guarded();
            string topic = Encoding.Latin1.GetString(updates.Span[1..]);
            Assert.True(updates.Span[0] == 1 ? held.Add(topic) : held.Remove(topic), $"news of {topic} that is none");
            ended = string.Equals(topic, "end", StringComparison.Ordinal);
        }

        Assert.Equal((Threads * 2 * Topics / 2) + 1, held.Count);
        Assert.Equal((held.Count, held.Count), (publisher.TopicCount, subscriber.TopicCount));
    }

    private static T Low<T>(T options)
        where T : ZmpSocketOptions
    {
        options.SendHighWaterMark = 40;
        options.ReceiveHighWaterMark = 40;
        options.SendTimeout = Guard.Limit;
        return options;
    }

    private static async Task<DealerSocket[]> ConnectAsync(ContextFixture fixture, ZmpSocket hub, string endpoint)
    {
        string bound = hub.Bind(endpoint);
        DealerSocket[] peers = [.. Names.Select(name =>
            fixture.Context.CreateDealer(Low(new DealerOptions { RoutingId = Encoding.ASCII.GetBytes(name) })))];
        Array.ForEach(peers, p => p.Connect(bound));
        await fixture.UntilAsync(() => hub.GetPeers().Count(static p => p.IsConnected) == peers.Length);
        return peers;
    }

    /// <summary>Sends and receives at both ends, all at once.</summary>
    /// <param name="hub">The socket of eight threads.</param>
    /// <param name="peers">Its peers.</param>
    /// <param name="sendTo">How the hub sends to a peer, by its number; where the socket chooses the peer, the number means
    /// nothing.</param>
    private static async Task PlayAsync(ReceivingSocket hub, DuplexSocket[] peers, Func<int, SendingWays> sendTo)
    {
        var threads = new TestThreads();
        var toHub = new Tally(Threads, peers.Length * PerSender);
        var toPeers = new Tally(peers.Length, Threads * PerSender);
        for (int i = 0; i < Threads; i++)
        {
            int sender = i;
            threads.Start(() =>
            {
                SendingWays[] ways = [.. peers.Select((_, number) => sendTo(number))];
                for (int number = 0; number < PerSender; number++)
                {
                    ways[number % ways.Length].Send(sender, number);
                }

                Array.ForEach(ways, static w => w.Dispose());
            });
            threads.Start(() => toHub.Receive(hub, sender));
        }

        for (int i = 0; i < peers.Length; i++)
        {
            int peer = i;
            threads.Start(() =>
            {
                using var ways = SendingWays.Of(peers[peer]);
                for (int number = 0; number < PerSender; number++)
                {
                    ways.Send(FirstPeer + peer, number);
                }
            });
            threads.Start(() => toPeers.Receive(peers[peer], peer));
        }

        long Received() => toHub.Count + toPeers.Count;
        await threads.WaitForAsync(Received, toHub.AllThere.Task, toPeers.AllThere.Task);
        hub.Dispose();
        Array.ForEach(peers, static p => p.Dispose());
        await threads.JoinAsync(Received);
        toHub.AssertComplete(PerSender);
        toPeers.AssertComplete(PerSender);
    }

    /// <summary>Four threads send at one end, four receive at the other.</summary>
    /// <param name="send">How one of them sends.</param>
    /// <param name="receiver">The other end.</param>
    private static async Task PlayOneWayAsync(Func<SendingWays> send, ReceivingSocket receiver)
    {
        var threads = new TestThreads();
        var tally = new Tally(Threads, Threads * PerSender);
        for (int i = 0; i < Threads; i++)
        {
            int thread = i;
            threads.Start(() =>
            {
                using SendingWays ways = send();
                for (int number = 0; number < PerSender; number++)
                {
                    ways.Send(FirstPeer + thread, number); // What begins with 0 or 1 would be a topic of an XSUB.
                }
            });
            threads.Start(() => tally.Receive(receiver, thread));
        }

        await threads.WaitForAsync(() => tally.Count, tally.AllThere.Task);
        receiver.Dispose();
        await threads.JoinAsync(() => tally.Count);
        tally.AssertComplete(PerSender);
    }

    /// <summary>What so many receiving threads got, until there is no more to get.</summary>
    private sealed class Tally(int receivers, int expected)
    {
        private readonly List<(int Sender, int Number)>[] _received =
            [.. Enumerable.Range(0, receivers).Select(_ => new List<(int, int)>())];
        private int _count;

        public int Count => Volatile.Read(ref _count);

        public TaskCompletionSource AllThere { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public void Receive(ReceivingSocket socket, int receiver)
        {
            var ways = new ReceivingWays(socket);
            try
            {
                while (true)
                {
                    int count = ways.Receive(message => _received[receiver].Add(Numbered.Check(message)));
                    if (count == 0)
                    {
                        Thread.Yield();
                    }
                    else if (Interlocked.Add(ref _count, count) == expected)
                    {
                        AllThere.SetResult();
                    }
                }
            }
            catch (ObjectDisposedException)
            {
                // All of it was there.
            }
        }

        /// <summary>Each thread got each sender's messages in order, and together they got each once.</summary>
        public void AssertComplete(int perSender)
        {
            foreach (List<(int Sender, int Number)> one in _received)
            {
                foreach (IGrouping<int, (int Sender, int Number)> sender in one.GroupBy(static m => m.Sender))
                {
                    int[] numbers = [.. sender.Select(static m => m.Number)];
                    Assert.Equal(numbers.Order(), numbers);
                }
            }

            foreach (IGrouping<int, (int Sender, int Number)> sender in _received.SelectMany(static one => one)
                .GroupBy(static m => m.Sender))
            {
                Assert.Equal(Enumerable.Range(0, perSender), sender.Select(static m => m.Number).Order());
            }

            Assert.Equal(expected, _count);
        }
    }
}
