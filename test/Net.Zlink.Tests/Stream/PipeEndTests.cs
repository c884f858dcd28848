using System.IO.Pipelines;
using System.Net.Sockets;
using Net.Zlink.Monitoring;
using Net.Zlink.Porting;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Stream;

/// <summary>How a raw connection ends: each side for itself, in order, broken, or by its handler.</summary>
public sealed class PipeEndTests
{
    [Fact]
    public async Task The_peers_half_close_ends_Input_and_leaves_Output_open()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Context.CreateStream();
        string endpoint = socket.BindPipe("tcp://127.0.0.1:0", static async pipe =>
        {
            byte[] all = await ReadToEndAsync(pipe.Input);
            await pipe.Output.WriteAsync(all, Guard.Token);
        });
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        await peer.SendAsync(new byte[] { 1, 2, 3 });
        peer.EndSending();
        Assert.Equal([1, 2, 3], await peer.ReadToEndAsync());
    }

    [Fact]
    public async Task Completing_Output_ends_our_side_and_leaves_Input_open()
    {
        await using var fixture = new StreamFixture();
        (StreamPipe pipe, RawPeer peer) = await fixture.ConnectPipeAsync();
        await pipe.Output.WriteAsync(new byte[] { 1 }, Guard.Token);
        await pipe.Output.CompleteAsync();
        Assert.Equal([1], await peer.ReadToEndAsync());
        await peer.SendAsync(new byte[] { 2, 3 });
        peer.Dispose();
        Assert.Equal([2, 3], await ReadToEndAsync(pipe.Input));
    }

    [Fact]
    public async Task Bytes_flushed_before_a_pipe_is_disposed_arrive()
    {
        await using var fixture = new StreamFixture();
        RawListener listener = fixture.Listen();
        StreamSocket client = fixture.Context.CreateStream();
        StreamPipe pipe = await client.ConnectPipeAsync(listener.Endpoint, Guard.Token).Guarded();
        RawPeer peer = fixture.Own(await listener.AcceptAsync());
        await peer.SendAsync(new byte[100_000]); // unread input must not turn the end into a reset
        byte[] bytes = Wire.Pattern(60_000);
        await pipe.Output.WriteAsync(bytes, Guard.Token);
        await pipe.DisposeAsync();
        await pipe.DisposeAsync();
        Wire.AssertSame(bytes, await peer.ReadToEndAsync());
        peer.Dispose();
        await fixture.UntilAsync(() => client.GetStatistics().ClosedConnections == 1);
    }

    [Theory]
    [InlineData("disconnect")]
    [InlineData("dispose")]
    [InlineData("unbind")]
    public async Task Ending_the_peer_from_outside_ends_its_pipe(string how)
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Context.CreateStream();
        var ended = new TaskCompletionSource<int>(TaskCreationOptions.RunContinuationsAsynchronously);
        string endpoint = socket.BindPipe("tcp://127.0.0.1:0", async pipe =>
        {
            await pipe.Output.WriteAsync(new byte[] { 1 }, Guard.Token);
            ended.SetResult((await ReadToEndAsync(pipe.Input)).Length);
        });
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        Assert.Equal([1], await peer.ReadAsync(1));
        uint id = Assert.Single(socket.GetPeers()).Id;
        switch (how)
        {
            case "disconnect":
                Assert.True(socket.Disconnect(id));
                break;
            case "unbind":
                socket.Unbind(endpoint);
                break;
            default:
                socket.Dispose();
                break;
        }

        Assert.Empty(await peer.ReadToEndAsync());
        peer.EndSending();
        Assert.Equal(0, await ended.Task.Guarded());
        await fixture.UntilAsync(() => socket.GetStatistics().ClosedConnections == 1);
    }

    [Fact]
    public async Task A_reset_fails_Input_with_an_IOException()
    {
        await using var fixture = new StreamFixture();
        RawListener listener = fixture.Listen();
        StreamSocket client = fixture.Context.CreateStream();
        await using StreamPipe pipe = await client.ConnectPipeAsync(listener.Endpoint, Guard.Token).Guarded();
        (await listener.AcceptAsync()).Reset();
        IOException thrown = await Assert.ThrowsAsync<IOException>(() => pipe.Input.ReadAsync(Guard.Token).Guarded());
        Assert.IsType<SocketException>(thrown.InnerException);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_pipe_handler_that_throws_ends_its_peer_only(bool atOnce)
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Context.CreateStream();
        using EventReader monitor = socket.ReadEvents();
        string endpoint = socket.BindPipe("tcp://127.0.0.1:0", pipe => pipe.Id == 2 ? FailAsync(atOnce)
            : pipe.Input.CopyToAsync(pipe.Output, Guard.Token));
        RawPeer good = await fixture.ConnectAsync(endpoint);
        await good.SendAsync(new byte[] { 1 });
        Assert.Equal([1], await good.ReadAsync(1));
        RawPeer bad = await fixture.ConnectAsync(endpoint);
        Assert.Empty(await bad.ReadToEndAsync());
        bad.Dispose();
        SocketEvent failed = await monitor.NextAsync(SocketEventTypes.HandlerFailed);
        Assert.Equal(2u, failed.PeerId);
        Assert.Contains("no pipe for you", failed.Detail, StringComparison.Ordinal);
        Assert.Equal((2u, 3L), await NextDisconnectedAsync(monitor));
        Assert.Equal(1, socket.GetStatistics().HandlerFaults);
        await good.SendAsync(new byte[] { 2 });
        Assert.Equal([2], await good.ReadAsync(1));
    }

    [Fact]
    public async Task A_peer_that_does_not_read_is_waited_for_no_longer_than_the_linger_time()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Context.CreateStream(new StreamOptions { Linger = TimeSpan.FromMilliseconds(200) });
        RawPeer peer = await fixture.ConnectAsync(
            socket.BindPipe("tcp://127.0.0.1:0", static async pipe =>
            await pipe.Output.WriteAsync(new byte[16 * 1024 * 1024], Guard.Token)), receiveBuffer: 4096);
        await peer.ReadAsync(1);
        Task closed = socket.Parts.AllClosed;
        socket.Dispose();
        await closed.Guarded();
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Bytes_that_the_system_has_taken_arrive_after_the_linger_time_for_the_others_is_over(bool isLinger)
    {
        byte[] bytes = new byte[16 * 1024 * 1024]; // More than the system takes.
        var time = TimeSpan.FromMilliseconds(100);
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Context.CreateStream(new StreamOptions { Linger = isLinger ? time : Timeout.InfiniteTimeSpan });
        var handled = new TaskCompletionSource();
        RawPeer peer = await fixture.ConnectAsync(socket.BindPipe("tcp://127.0.0.1:0", async pipe =>
        {
            try
            {
                await pipe.Output.WriteAsync(bytes, Guard.Token);
            }
            finally
            {
                await pipe.DisposeAsync();
                handled.SetResult();
            }
        }));
        Assert.Single(await peer.ReadAsync(1));
        Task closed = socket.Parts.AllClosed;
        if (isLinger)
        {
            socket.Dispose();
        }
        else
        {
            await fixture.Context.ShutdownAsync(time, Guard.Token).Guarded();
        }

        await closed.Guarded();
        int all = 1 + (await peer.ReadToEndAsync()).Length; // A reset would throw.
        Assert.InRange(all, 1, bytes.Length - 1);
        Assert.True(all >= socket.GetStatistics().WrittenBytes, "some of what the system had taken did not arrive");
        await handled.Task.Guarded(); // Nobody else waits for it at the context's end; until then the pipe has its memory.
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_handler_that_never_returns_holds_up_no_shutdown_past_its_deadline(bool blocks)
    {
        var context = new ZlinkContext();
        StreamSocket socket = context.CreateStream();
        var began = new TaskCompletionSource();
        var never = new TaskCompletionSource();
        using var held = new ManualResetEventSlim();
        using RawPeer peer = await RawPeer.ConnectAsync(socket.BindPipe("tcp://127.0.0.1:0", async _ =>
        {
            began.SetResult();
            if (blocks)
            {
                held.Wait(Guard.Token);
            }

            await never.Task;
        }));
        await began.Task.Guarded();
        await context.ShutdownAsync(TimeSpan.FromMilliseconds(100), Guard.Token).Guarded();
        held.Set();
        never.SetResult();
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_handler_that_waits_for_its_contexts_end_waits_for_the_shutdown_timeout_and_no_longer(bool blocks)
    {
        await using var fixture = new StreamFixture(shutdownTimeout: TimeSpan.FromMilliseconds(100));
        StreamSocket socket = fixture.Context.CreateStream();
        var isOver = new TaskCompletionSource<bool>(TaskCreationOptions.RunContinuationsAsynchronously);
        RawPeer peer = await fixture.ConnectAsync(socket.BindPipe("tcp://127.0.0.1:0", async pipe =>
        {
            await pipe.Output.WriteAsync(new byte[] { 1 }, Guard.Token);
            if (blocks)
            {
                fixture.Context.Dispose();
            }
            else
            {
                await fixture.Context.DisposeAsync();
            }

            isOver.SetResult(fixture.Context.ShutdownAsync(TimeSpan.Zero).IsCompleted);
        }));
        Assert.Equal([1], await peer.ReadToEndAsync());
        Assert.True(await isOver.Task.Guarded(), "the context has not ended behind its handler's wait");
    }

    [Fact]
    public async Task A_handler_whose_exception_has_no_words_ends_its_peer_only()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Context.CreateStream();
        using EventReader monitor = socket.ReadEvents();
        RawPeer bad = await fixture.ConnectAsync(socket.BindPipe("tcp://127.0.0.1:0", static _ => throw new WordlessException()));
        Assert.Empty(await bad.ReadToEndAsync());
        bad.Dispose();
        SocketEvent failed = await monitor.NextAsync(SocketEventTypes.HandlerFailed);
        Assert.Contains(nameof(WordlessException), failed.Detail, StringComparison.Ordinal);
        await fixture.UntilAsync(() => socket.GetStatistics().ClosedConnections == 1);
    }

    private static async Task<(uint PeerId, long Value)> NextDisconnectedAsync(EventReader monitor)
    {
        SocketEvent one = await monitor.NextAsync(SocketEventTypes.Disconnected);
        return (one.PeerId, one.ToNativeValue());
    }

    private static async Task FailAsync(bool atOnce)
    {
        if (!atOnce)
        {
            await Task.Yield();
        }

        throw new InvalidOperationException("no pipe for you");
    }

    private static async Task<byte[]> ReadToEndAsync(PipeReader reader)
    {
        using var all = new MemoryStream();
        await reader.CopyToAsync(all, Guard.Token).Guarded();
        return all.ToArray();
    }
}
