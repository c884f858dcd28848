using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>A ROUTER drops what is for an id that is only unknown; an id that no peer can have is a mistake of the program, and
/// told.</summary>
public sealed class RoutingIdArgumentTests
{
    private static readonly byte[] TooLong = new byte[256];

    private static readonly ReadOnlyMemory<byte>[] Payloads = [new byte[] { 1 }];

    private static Dictionary<string, Func<Router, byte[], Task>> Sends { get; } = new(StringComparer.Ordinal)
    {
        ["TrySend"] = static (at, id) => Done(() => at.Socket.To(id).TrySend("x"u8)),
        ["Send"] = static (at, id) => Done(() => at.Socket.To(id).Send("x"u8)),
        ["Send with a timeout"] = static (at, id) => Done(() => at.Socket.To(id).Send("x"u8, TimeSpan.Zero)),
        ["SendAsync"] = static (at, id) => at.Socket.To(id).SendAsync("x"u8.ToArray(), Guard.Token).AsTask(),
        ["TrySend of a builder"] = static (at, id) => Done(() => at.Socket.To(id).TrySend(at.Builder)),
        ["Send of a builder"] = static (at, id) => Done(() => at.Socket.To(id).Send(at.Builder)),
        ["SendAsync of a builder"] = static (at, id) => at.Socket.To(id).SendAsync(at.Builder, Guard.Token).AsTask(),
        ["TrySend of a message"] = static (at, id) => Done(() => at.Socket.To(id).TrySend(in at.Received)),
        ["Send of a message"] = static (at, id) => Done(() => at.Socket.To(id).Send(in at.Received)),
        ["SendAsync of a message"] = static (at, id) => at.Socket.To(id).SendAsync(in at.Received, Guard.Token).AsTask(),
        ["SendMany"] = static (at, id) => Done(() => at.Socket.To(id).SendMany(Payloads)),
        ["SendManyAsync"] = static (at, id) => at.Socket.To(id).SendManyAsync(Payloads, Guard.Token).AsTask(),
    };

    public static TheoryData<string> Names => [.. Sends.Keys];

    [Theory]
    [MemberData(nameof(Names))]
    public async Task An_id_that_no_peer_can_have_is_refused_and_one_that_none_has_is_dropped(string send)
    {
        await using var fixture = new ContextFixture();
        var at = new Router(fixture.Context);
        await at.FillAsync();

        Assert.Contains("1 to 255 bytes, not 0", (await Assert.ThrowsAsync<ArgumentException>("routingId", () => Sends[send](at, [])))
            .Message, StringComparison.Ordinal);
        Assert.Contains("at most 255 bytes, not 256",
            (await Assert.ThrowsAsync<ArgumentException>("bytes", () => Sends[send](at, TooLong))).Message, StringComparison.Ordinal);
        Assert.Equal(0, at.Socket.GetStatistics().DroppedUnroutable);

        await Sends[send](at, TooLong[..255]);
        Assert.Equal(1, at.Socket.GetStatistics().DroppedUnroutable);
        at.End();
    }

    [Fact]
    public async Task A_routing_id_that_a_peer_makes_up_does_not_end_a_proxy()
    {
        await using var fixture = new ContextFixture();
        DealerSocket front = fixture.Context.CreateDealer();
        RouterSocket back = fixture.Context.CreateRouter();
        DealerSocket asks = fixture.Context.CreateDealer();
        DealerSocket answers = fixture.Context.CreateDealer(new DealerOptions { RoutingId = "worker"u8.ToArray() });
        asks.Connect(front.Bind("inproc://front"));
        answers.Connect(back.Bind("inproc://back"));
        var proxy = new SocketProxy(front, back);
        Task running = proxy.RunAsync(Guard.Token);
        using var message = new MessageBuilder();
        await asks.SendAsync(message.Add([]).Add("lost"u8), Guard.Token);
        await asks.SendAsync(message.Add(TooLong).Add("lost"u8), Guard.Token);

        await asks.SendAsync(message.Add("worker"u8).Add("found"u8), Guard.Token);

        using Message found = await answers.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal("found", found.GetString());
        Assert.Equal(2, back.GetStatistics().DroppedUnroutable);
        proxy.Stop();
        await running.Guarded();
    }

    private static Task Done(Action send)
    {
        try
        {
            send();
            return Task.CompletedTask;
        }
        catch (ArgumentException e)
        {
            return Task.FromException(e);
        }
    }

    /// <summary>A ROUTER without peers, and something to send of each kind.</summary>
    private sealed class Router(ZlinkContext context)
    {
        private Message _received;

        public RouterSocket Socket { get; } = context.CreateRouter();

        public MessageBuilder Builder { get; } = new MessageBuilder().Add("x"u8);

        public ref Message Received => ref _received;

        public async Task FillAsync()
        {
            PairSocket from = context.CreatePair();
            PairSocket to = context.CreatePair();
            from.Connect(to.Bind("inproc://source"));
            await from.SendAsync("x"u8.ToArray(), Guard.Token);
            _received = await to.ReceiveAsync(Guard.Token).Guarded();
        }

        public void End()
        {
            Builder.Dispose();
            _received.Dispose();
        }
    }
}
