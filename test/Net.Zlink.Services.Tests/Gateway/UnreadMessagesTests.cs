using System.Text;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests;

/// <summary>Messages that are no replies: how many wait, which are dropped, and what a receiver can do to a gateway with them.</summary>
public class UnreadMessagesTests
{
    private const int FrameSize = 65_000;

    [Fact]
    public async Task Replies_to_plain_sends_wait_until_the_application_receives()
    {
        const int Count = 1_000;
        await using var scene = new GatewayScene();
        (RouterSocket socket, _) = await scene.AddRawAsync("one");
        await scene.Fixture.SettleAsync();
        for (int i = 0; i < Count; i++)
        {
            Assert.True(scene.Client.TrySend(Encoding.UTF8.GetBytes($"{i}")));
        }

        for (int i = 0; i < Count; i++)
        {
            using Message message = await socket.ReceiveAsync(Guard.Token).Guarded();
            Assert.True(socket.To(message).TrySend(message.Span));
        }

        await scene.Fixture.UntilAsync(() => scene.Gateway.GetStatistics().UnreadMessages == Count);
        for (int i = 0; i < Count; i++)
        {
            using GatewayMessage message = await scene.Gateway.ReceiveAsync(Guard.Token).Guarded();
            Assert.Equal($"{i}", Encoding.UTF8.GetString(message.Span));
        }

        Assert.Equal((0, 0L), (scene.Gateway.GetStatistics().UnreadMessages, scene.Gateway.GetStatistics().UnreadBytes));
    }

    [Fact]
    public async Task A_gateway_that_only_asks_keeps_nothing_of_a_flood_and_its_requests_go_on()
    {
        await using var scene = new GatewayScene();
        (RouterSocket flooding, RoutingId gateway) = await FloodingAsync(scene);
        await scene.AddServingAsync("honest", static (request, cancellation) => request.ReplyAsync(request.Memory, cancellation));
        await FloodAsync(scene, flooding, gateway, 300);

        GatewayStatistics statistics = scene.Gateway.GetStatistics();
        Assert.Equal((0, 0L), (statistics.UnreadMessages, statistics.UnreadBytes));
        await AskAllAsync(scene);
    }

    [Fact]
    public async Task A_flood_stays_within_the_quarter_of_its_link_and_the_limit_of_the_context_and_requests_go_on()
    {
        await using var scene = new GatewayScene(new ServiceGatewayOptions { UnreadByteLimit = 4_000_000 });
        (RouterSocket flooding, RoutingId gateway) = await FloodingAsync(scene);
        await scene.AddServingAsync("honest", static (request, cancellation) => request.ReplyAsync(request.Memory, cancellation));
        Assert.False(scene.Gateway.TryReceive(out _)); // It receives: what comes is kept.
        await FloodAsync(scene, flooding, gateway, 300);

        GatewayStatistics statistics = scene.Gateway.GetStatistics();
        Assert.InRange(statistics.UnreadBytes, 500_000, 1_000_000);
        Assert.InRange(statistics.DroppedMessages, 285, 292);
        Assert.InRange(scene.Fixture.Context.GetStatistics().QueuedBytes, 400_000, 4_000_000);
        await AskAllAsync(scene);
        while (scene.Gateway.TryReceive(out GatewayMessage message))
        {
            message.Dispose();
        }

        Assert.Equal(0, scene.Fixture.Context.GetStatistics().QueuedBytes);
        Assert.Equal(2, scene.Client.ReadyCount); // Nobody is ended for messages that nobody asked for.
    }

    [Fact]
    public void The_oldest_of_the_link_that_holds_most_is_dropped_and_the_others_lose_nothing()
    {
        using var context = new ZlinkContext();
        UnreadMessages unread = Make(context, new ServiceGatewayOptions { UnreadByteLimit = 4 * 1_128 });
        UnreadOfLink[] links = [new(), new(), new(), new()];
        for (int i = 0; i < 4; i++)
        {
            Assert.True(Enqueue(unread, links[i], 1_000, i));
        }

        Assert.True(Enqueue(unread, links[0], 500, 4)); // Over its own quarter.
        Assert.True(Enqueue(unread, new UnreadOfLink(), 300, 5)); // All together hold what they may but 500: it fits.
        Assert.True(Enqueue(unread, new UnreadOfLink(), 300, 6)); // Over the limit of all.

        Assert.Equal(2, unread.Dropped);
        Assert.Equal([2, 3, 4, 5, 6], Drain(unread).Order());
        unread.End(static () => new ObjectDisposedException("test"));
    }

    [Fact]
    public void A_message_over_all_limits_is_accepted_alone_and_dropped_beside_others()
    {
        using var context = new ZlinkContext();
        UnreadMessages unread = Make(context, new ServiceGatewayOptions { UnreadByteLimit = 10_000 });
        Assert.True(Enqueue(unread, new UnreadOfLink(), 50_000, 0));
        Assert.Equal([0], Drain(unread));
        Assert.True(Enqueue(unread, new UnreadOfLink(), 100, 1));
        Assert.True(Enqueue(unread, new UnreadOfLink(), 50_000, 2));
        Assert.Equal([1], Drain(unread));
        Assert.Equal(1, unread.Dropped);
        unread.End(static () => new ObjectDisposedException("test"));
    }

    [Fact]
    public async Task Without_requests_nothing_is_dropped_and_reading_goes_on_at_half_of_the_limit()
    {
        using var context = new ZlinkContext();
        UnreadMessages unread = Make(context, new ServiceGatewayOptions { UnreadMessageLimit = 4 });
        var link = new UnreadOfLink();
        for (int i = 0; i < 4; i++)
        {
            Assert.True(Enqueue(unread, link, 10, i));
        }

        GatewayMessage fifth = Of(10, 4);
        Assert.False(unread.TryEnqueue(link, fifth, mayDrop: false, out Task capacity));
        Assert.True(unread.TryReceive(out _));
        Assert.False(capacity.IsCompleted);
        Assert.True(unread.TryReceive(out _));
        await capacity.Guarded();
        Assert.True(unread.TryEnqueue(link, fifth, mayDrop: false, out _));
        Assert.Equal([2, 3, 4], Drain(unread));
        Assert.Equal(0, unread.Dropped);
        unread.End(static () => new ObjectDisposedException("test"));
    }

    [Fact]
    public async Task The_end_ends_every_wait_and_what_is_unread()
    {
        using var context = new ZlinkContext();
        UnreadMessages unread = Make(context, new ServiceGatewayOptions());
        ValueTask<GatewayMessage> waiting = unread.ReceiveAsync(Guard.Token);
        using var cancellation = new CancellationTokenSource();
        ValueTask<GatewayMessage> cancelled = unread.ReceiveAsync(cancellation.Token);
        await cancellation.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => cancelled.AsTask().Guarded());
        Assert.True(Enqueue(unread, new UnreadOfLink(), 10, 7));
        Assert.Equal(7, NumberOf(await waiting.Guarded()));
        Assert.True(Enqueue(unread, new UnreadOfLink(), 10, 8));

        unread.End(static () => new ObjectDisposedException("test"));
        Assert.Equal((0, 0L), (unread.Count, unread.Bytes));
        await Assert.ThrowsAsync<ObjectDisposedException>(() => unread.ReceiveAsync(Guard.Token).AsTask());
        Assert.True(Enqueue(unread, new UnreadOfLink(), 10, 9));
        Assert.False(unread.TryReceive(out _));
    }

    private static UnreadMessages Make(ZlinkContext context, ServiceGatewayOptions options)
    {
        var unread = new UnreadMessages(context, options, context.LoggerFactory.CreateLogger("test"));
        unread.Want();
        return unread;
    }

    private static bool Enqueue(UnreadMessages unread, UnreadOfLink link, int size, int number) =>
        unread.TryEnqueue(link, Of(size, number), mayDrop: true, out _);

    private static GatewayMessage Of(int size, int number)
    {
        byte[] bytes = new byte[size];
        BitConverter.TryWriteBytes(bytes, number);
        return new GatewayMessage(new ServiceInstance("svc", "tcp://127.0.0.1:1"), Message.Create(bytes), skip: 0);
    }

    private static int NumberOf(in GatewayMessage message) => BitConverter.ToInt32(message.Span);

    private static List<int> Drain(UnreadMessages unread)
    {
        List<int> numbers = [];
        while (unread.TryReceive(out GatewayMessage message))
        {
            numbers.Add(NumberOf(message));
            message.Dispose();
        }

        return numbers;
    }

    /// <summary>A listed receiver that has a request of the gateway, and does not answer it.</summary>
    private static async Task<(RouterSocket Socket, RoutingId Gateway)> FloodingAsync(GatewayScene scene)
    {
        (RouterSocket socket, string endpoint) = await scene.AddRawAsync("flood");
        using var cancellation = new CancellationTokenSource();
        Task<ServiceReply> unanswered = scene.Client.RequestAsync("x"u8.ToArray(), Guard.Limit, cancellation.Token).AsTask();
        using Message request = await socket.ReceiveAsync(Guard.Token).Guarded();
        await cancellation.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => unanswered.Guarded());
        Assert.NotEmpty(endpoint);
        return (socket, request.RoutingId.Copy());
    }

    private static async Task FloodAsync(GatewayScene scene, RouterSocket socket, RoutingId gateway, int frames)
    {
        byte[] frame = new byte[FrameSize];
        long before = Judged(scene);
        for (int i = 0; i < frames; i++)
        {
            await socket.To(gateway).SendAsync(frame, Guard.Token).Guarded();
        }

        // What the socket has handed over in a batch is in neither count until the gateway has looked at it.
        await scene.Fixture.UntilAsync(() => Judged(scene) >= before + frames);
    }

    private static long Judged(GatewayScene scene)
    {
        GatewayStatistics statistics = scene.Gateway.GetStatistics();
        return statistics.DroppedMessages + statistics.UnreadMessages;
    }

    private static async Task AskAllAsync(GatewayScene scene)
    {
        for (int i = 0; i < 20; i++)
        {
            using ServiceReply reply = await scene.Client.To(RoutingId.FromText("honest")).RequestAsync(Encoding.UTF8.GetBytes($"{i}"),
                Guard.Limit, Guard.Token).Guarded();
            Assert.Equal($"{i}", Encoding.UTF8.GetString(reply.Span));
        }
    }
}
