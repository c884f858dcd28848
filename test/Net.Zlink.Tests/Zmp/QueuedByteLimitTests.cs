using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>All queues of a context together are at its limit.</summary>
public sealed class QueuedByteLimitTests
{
    private const int KiB = 1024;
    private const int Size = 8 * KiB;
    private const int Limit = 512 * KiB;

    // What a queue may hold besides, and the message that finds it full.
    private const int Besides = (16 * KiB) + Size + 8;

    // A queue that finds less left than it needs takes nothing: what one read brings, and the step to which that is rounded up.
    private const int OneRead = (64 + 16) * KiB;

    private static readonly byte[] Payload = Wire.Pattern(Size, 1);

    public static TheoryData<string> Transports => ["tcp://127.0.0.1:0", "inproc://limit"];

    [Fact]
    public void QueuedByteLimit_is_a_quarter_of_the_memory_unless_it_is_set()
    {
        Assert.Equal(GC.GetGCMemoryInfo().TotalAvailableMemoryBytes / 4, new ZlinkContextOptions().QueuedByteLimit);
        Assert.Null(new ZlinkContextOptions { QueuedByteLimit = null }.QueuedByteLimit);
        Assert.Throws<ArgumentOutOfRangeException>(new ZlinkContextOptions { QueuedByteLimit = 0 }.Validate);
    }

    [Fact]
    public async Task A_sender_waits_at_it_and_goes_on_when_another_socket_of_the_context_lets_go_of_its_messages()
    {
        await using var fixture = new ContextFixture(queuedByteLimit: Limit);
        DealerSocket hog = NewDealer(fixture);
        hog.Connect(fixture.Listen().Endpoint);
        int sent = Fill(hog);
        Assert.InRange(sent * (Size + 8), Limit, Limit + Besides);
        DealerSocket other = NewDealer(fixture);
        other.Connect(fixture.Listen().Endpoint);
        Assert.Equal(2, Fill(other));
        TimeoutException refused = Assert.Throws<TimeoutException>(() => other.Send(Payload, TimeSpan.Zero));
        Assert.Contains("QueuedByteLimit", refused.Message, StringComparison.Ordinal);
        Assert.Contains("queues of the context wait: ", other.Describe(), StringComparison.Ordinal);
        Assert.Equal(2, fixture.Context.GetStatistics().QueuesWaiting);
        Assert.InRange(fixture.Context.GetStatistics().QueuedBytes, Limit - (16 * KiB), Limit);
        ValueTask waiting = other.SendAsync(Payload, Guard.Token);
        Assert.False(waiting.IsCompleted);
        hog.Dispose();
        await waiting.AsTask().Guarded();
        Assert.DoesNotContain("queues of the context wait", other.Describe(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_sender_to_an_inproc_name_that_nobody_has_bound_goes_on_too()
    {
        await using var fixture = new ContextFixture(queuedByteLimit: Limit);
        DealerSocket hog = NewDealer(fixture);
        hog.Connect("inproc://nobody");
        Fill(hog);
        DealerSocket other = NewDealer(fixture);
        other.Connect("inproc://nobody-either");
        Fill(other);
        ValueTask waiting = other.SendAsync(Payload, Guard.Token);
        Assert.False(waiting.IsCompleted);
        hog.Dispose();
        await waiting.AsTask().Guarded();
    }

    [Theory]
    [MemberData(nameof(Transports))]
    public async Task A_publisher_drops_at_it_says_so_and_still_serves_the_subscriber_that_reads(string endpoint)
    {
        await using var fixture = new ContextFixture(queuedByteLimit: Limit, shutdownTimeout: TimeSpan.Zero);
        PubSocket publisher = fixture.Context.CreatePub(new PubOptions { SendBufferSize = 16 * KiB });
        using EventReader monitor = publisher.ReadEvents(SocketEventTypes.MessagesDropped);
        string bound = publisher.Bind(endpoint);
        SubSocket sleeper = NewSubscriber(fixture, bound);
        SubSocket reader = NewSubscriber(fixture, bound);
        await fixture.UntilAsync(() => publisher.GetPeers().Count(static peer => peer.MessagesReceived == 1) == 2);
        while (publisher.GetStatistics().DroppedAtContextLimit == 0)
        {
            publisher.Send(Payload);
        }

        SocketEvent told = await monitor.ReadAsync(Guard.Token).Guarded();
        Assert.Contains("the context is at its QueuedByteLimit", told.Detail, StringComparison.Ordinal);
        SocketStatistics counters = publisher.GetStatistics();
        Assert.Equal((0, 0), (counters.DroppedAtHighWaterMark, counters.DroppedAtByteLimit));
        Assert.Contains(
            $", {counters.DroppedAtContextLimit} at the context's byte limit, ", publisher.Describe(), StringComparison.Ordinal);

        // The sleeper goes on to hold what it has.
        await fixture.UntilAsync(() =>
        {
            while (reader.TryReceive(out Message earlier))
            {
                earlier.Dispose();
            }

            return publisher.GetPeers().Any(static peer => peer.Outbound.Messages == 0);
        });
        for (int i = 0; i < 200; i++)
        {
            byte[] next = Wire.Pattern(Size, i);
            publisher.Send(next);
            while (true)
            {
                using Message message = await reader.ReceiveAsync(Guard.Token).Guarded();
                if (message.Span.SequenceEqual(next))
                {
                    break; // Before the first of these, some may have been on their way.
                }
            }
        }

        Assert.NotEqual(0, sleeper.GetStatistics().UnreadMessages);
    }

    [Theory]
    [MemberData(nameof(Transports))]
    public async Task Messages_of_many_peers_stay_within_QueuedByteLimit_while_unread_and_all_arrive_later(
        string endpoint)
    {
        const int Peers = 8;
        const int Messages = 60;
        await using var fixture = new ContextFixture(queuedByteLimit: Limit);
        PullingRouter router = new(fixture.Context.CreateRouter(new RouterOptions { ReceiveBufferSize = 16 * KiB }));
        string bound = router.Socket.Bind(endpoint);
        Task[] sending = [.. Enumerable.Range(0, Peers).Select(_ =>
        {
            DealerSocket dealer = fixture.Context.CreateDealer(new DealerOptions { SendBufferSize = 16 * KiB });
            dealer.Connect(bound);
            return Task.Run(async () =>
            {
                for (int i = 0; i < Messages; i++)
                {
                    await dealer.SendAsync(Wire.Pattern(Size, i), Guard.Token);
                }
            });
        })];
        await fixture.UntilAsync(() => fixture.Context.GetStatistics() is { QueuesWaiting: > 0, QueuedBytes: > Limit - OneRead });
        Assert.InRange(fixture.Context.GetStatistics().QueuedBytes, 0, Limit);
        await router.ReceiveAsync(Peers * Messages);
        await Task.WhenAll(sending).Guarded();
        Assert.Equal(Peers, router.Senders);
    }

    private static DealerSocket NewDealer(ContextFixture fixture) =>
        fixture.Context.CreateDealer(new DealerOptions { Linger = TimeSpan.Zero });

    private static SubSocket NewSubscriber(ContextFixture fixture, string endpoint)
    {
        SubSocket subscriber = fixture.Context.CreateSub(new SubOptions { ReceiveBufferSize = 16 * KiB });
        subscriber.Subscribe("");
        subscriber.Connect(endpoint);
        return subscriber;
    }

    private static int Fill(DealerSocket socket)
    {
        int sent = 0;
        while (socket.TrySend(Payload))
        {
            sent++;
        }

        return sent;
    }

    /// <summary>Receives what numbered senders sent, and checks that each one's messages come whole and in order.</summary>
    private sealed class PullingRouter(RouterSocket socket)
    {
        private readonly Dictionary<string, int> _next = [];

        public RouterSocket Socket => socket;

        public int Senders => _next.Count;

        public async Task ReceiveAsync(int messages)
        {
            for (int i = 0; i < messages; i++)
            {
                using Message message = await socket.ReceiveAsync(Guard.Token).Guarded();
                string sender = Convert.ToHexString(message.RoutingId.Span);
                int number = _next.GetValueOrDefault(sender);
                Wire.AssertSame(Wire.Pattern(Size, number), message.Span.ToArray());
                _next[sender] = number + 1;
            }
        }
    }
}
