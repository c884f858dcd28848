using Net.Zlink.Buffers;
using Net.Zlink.Porting;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Options;

/// <summary>What a context hands on to its sockets, and its native options.</summary>
public sealed class ContextOptionsTests
{
    [Fact]
    public async Task Sockets_take_the_contexts_defaults_for_what_their_options_do_not_say()
    {
        await using var context = new ZlinkContext(new ZlinkContextOptions { IPv6 = true, DefaultLinger = TimeSpan.FromSeconds(1) });
        using DealerSocket unset = context.CreateDealer();
        using DealerSocket set = context.CreateDealer(new DealerOptions { IPv6 = false, Linger = TimeSpan.FromSeconds(2) });
        using SubSocket sub = context.CreateSub();
        using StreamSocket stream = context.CreateStream();
        Assert.Equal((true, TimeSpan.FromSeconds(1)), (unset.Options.IPv6, unset.Options.Linger));
        Assert.Equal((false, TimeSpan.FromSeconds(2)), (set.Options.IPv6, set.Options.Linger));
        Assert.Equal((true, TimeSpan.Zero), (sub.Options.IPv6, sub.Options.Linger));
        Assert.Equal((true, TimeSpan.FromSeconds(1)), (stream.Options.IPv6, stream.Options.Linger));
        Assert.Equal((null, null), (new DealerOptions().IPv6, new DealerOptions().Linger)); // Before there is a socket.
    }

    [Fact]
    public async Task Context_options_that_cannot_work_are_refused_when_they_are_used()
    {
        Assert.Throws<ArgumentNullException>("TimeProvider", () => new ZlinkContext(new ZlinkContextOptions { TimeProvider = null! }));
        Assert.Throws<ArgumentNullException>("PoolOptions", () => new ZlinkContext(new ZlinkContextOptions { PoolOptions = null! }));
        var pool = new BufferPool();
        pool.Dispose();
        Assert.Throws<ObjectDisposedException>(() => new ZlinkContext(new ZlinkContextOptions { Pool = pool }));
        await using var context = new ZlinkContext();
        using PairSocket pair = context.CreatePair();
        Assert.Equal("timeout", Assert.Throws<ArgumentOutOfRangeException>(() => pair.Receive(TimeSpan.FromSeconds(-2))).ParamName);
        await Assert.ThrowsAsync<ArgumentOutOfRangeException>(
            "deadline", async () => await context.ShutdownAsync(TimeSpan.FromSeconds(-2), Guard.Token));
    }

    [Fact]
    public void Native_context_options_become_settings()
    {
        var options = new ZlinkContextOptions();
        Assert.Equal((1023, 0, 1), (NativeOptions.GetInt32(options, 2), NativeOptions.GetInt32(options, 42),
            NativeOptions.GetInt32(options, 70)));
        NativeOptions.Set(options, 1, 3);
        NativeOptions.Set(options, 2, 7);
        NativeOptions.Set(options, 42, 5);
        NativeOptions.Set(options, 70, 0);
        Assert.Equal((3, 7, true, TimeSpan.Zero), (options.ShardCount, options.MaxSockets, options.IPv6, options.DefaultLinger));
        Assert.Equal((3, 7, 1, 0), (NativeOptions.GetInt32(options, 1), NativeOptions.GetInt32(options, 2),
            NativeOptions.GetInt32(options, 42), NativeOptions.GetInt32(options, 70)));
    }

    [Theory]
    [InlineData(1, 0)]
    [InlineData(1, -1)]
    [InlineData(2, 0)]
    [InlineData(42, -1)]
    [InlineData(70, -1)]
    [InlineData(-1, 1)]
    [InlineData(10, 1)]
    public void A_bad_native_context_option_is_an_invalid_argument(int number, int value) =>
        Assert.Equal(ZlinkError.InvalidArgument, Assert.Throws<ZlinkException>(
            () => NativeOptions.Set(new ZlinkContextOptions(), number, value)).Error);

    [Theory]
    [InlineData(3)]
    [InlineData(4)]
    [InlineData(5)]
    [InlineData(6)]
    [InlineData(7)]
    [InlineData(8)]
    [InlineData(9)]
    public void A_native_context_option_that_means_nothing_here_is_refused_with_the_reason(int number)
    {
        Assert.Equal(ZlinkError.NotSupported, Assert.Throws<ZlinkException>(() => NativeOptions.Set(new ZlinkContextOptions(), number, 1))
            .Error);
        Assert.Equal(ZlinkError.NotSupported, Assert.Throws<ZlinkException>(
            () => NativeOptions.GetInt32(new ZlinkContextOptions(), number)).Error);
    }

    [Fact]
    public async Task A_socket_with_an_affinity_lives_on_the_shards_that_it_allows()
    {
        await using var context = new ZlinkContext(new ZlinkContextOptions { ShardCount = 3 });
        using RouterSocket server = context.CreateRouter(new RouterOptions { ShardAffinity = 0b100 });
        string endpoint = server.Bind("tcp://127.0.0.1:0");
        using DealerSocket client = context.CreateDealer(new DealerOptions { ShardAffinity = 0b010 });
        client.Connect(endpoint);
        client.Send("x"u8);
        using Message message = await server.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal([0, 1, 1], context.GetStatistics().Shards.Select(static s => s.Connections));
    }

    [Theory]
    [InlineData("tcp", 3, 0)]
    [InlineData("ws", 3, 3)]
    [InlineData("ws", 0, 0)]
    public async Task Connections_over_websocket_have_further_shards_unless_there_are_to_be_none(string transport, int further, int made)
    {
        await using var context = new ZlinkContext(new ZlinkContextOptions { ShardCount = 2, TlsAndWebSocketShardCount = further });
        using PairSocket server = context.CreatePair();
        using PairSocket client = context.CreatePair();
        client.Connect(server.Bind($"{transport}://127.0.0.1:0"));
        client.Send("x"u8);
        using Message message = await server.ReceiveAsync(Guard.Token).Guarded();
        int[] connections = [.. context.GetStatistics().Shards.Select(static s => s.Connections)];
        Assert.Equal(2 + made, connections.Length);
        Assert.Equal((made > 0 ? 0 : 2, 2), (connections[..2].Sum(), connections.Sum()));
    }

    [Fact]
    public void The_number_of_further_shards_has_bounds()
    {
        Assert.Equal(Math.Min(8 * Environment.ProcessorCount, 1024), new ZlinkContextOptions().TlsAndWebSocketShardCount);
        foreach (int count in new[] { -1, 1025 })
        {
            Assert.Throws<ArgumentOutOfRangeException>(
                "TlsAndWebSocketShardCount", new ZlinkContextOptions { TlsAndWebSocketShardCount = count }.Validate);
        }
    }

    [Fact]
    public async Task A_context_takes_its_options_as_they_are_when_it_is_made()
    {
        var options = new ZlinkContextOptions { Name = "before", MaxSockets = 1 };
        await using var context = new ZlinkContext(options);
        options.Name = "after";
        options.MaxSockets = 0;
        Assert.Equal("before", Assert.Single(context.Meter.Tags!, static tag => tag.Key is "zlink.context").Value);
        using PairSocket only = context.CreatePair();
        Assert.Equal(ZlinkError.TooManySockets, Assert.Throws<ZlinkException>(() => context.CreatePair()).Error);
    }

    [Fact]
    public async Task An_affinity_to_shards_that_do_not_exist_fails_where_it_would_be_used()
    {
        await using var context = new ZlinkContext(new ZlinkContextOptions { ShardCount = 3 });
        using PairSocket socket = context.CreatePair(new PairOptions { ShardAffinity = 0b1000 });
        Assert.Equal(ZlinkError.NoThread, Assert.Throws<ZlinkException>(() => socket.Bind("tcp://127.0.0.1:0")).Error);
        Assert.Equal(ZlinkError.NoThread, Assert.Throws<ZlinkException>(() => socket.Connect("tcp://127.0.0.1:1")).Error);
        socket.Bind("inproc://affinity");
    }
}
