using System.IO.Pipelines;
using System.Net;
using System.Net.Sockets;
using Net.Zlink.Monitoring;
using Net.Zlink.Porting;
using Net.Zlink.Tests.Support;
using Net.Zlink.Tests.Transports.Ipc;
using Net.Zlink.Tests.Transports.WebSocket;
using Xunit;

namespace Net.Zlink.Tests.Stream;

/// <summary>A raw connection whose user has completed Output and reads on: how long that may go on, and what ends it.</summary>
public sealed class PipeHalfCloseTests
{
    private static readonly TimeSpan CloseTimeout = new StreamOptions().CloseTimeout;

    [Theory]
    [InlineData("tcp", false)]
    [InlineData("tcp", true)]
    [InlineData("ipc", false)]
    [InlineData("ipc", true)]
    public async Task Input_is_read_for_as_long_as_the_peer_speaks(string scheme, bool weConnect)
    {
        var time = new ManualTimeProvider();
        using var folder = new IpcFolder();
        await using var fixture = new StreamFixture(time: time);
        StreamSocket socket = fixture.Context.CreateStream();
        using EventReader monitor = socket.ReadEvents(SocketEventTypes.Disconnected | SocketEventTypes.MonitorStopped);
        var over = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        (StreamPipe pipe, RawPeer peer) = await OpenAsync(
            fixture, socket, scheme is "ipc" ? $"ipc://{folder["a"]}" : "tcp://127.0.0.1:0", weConnect, over.Task);
        await EndOutputAsync(fixture, pipe, peer);
        for (byte i = 0; i < 10; i++)
        {
            await PassAsync(fixture, time);
            await peer.SendAsync(new byte[] { i });
            ReadResult read = await pipe.Input.ReadAsync(Guard.Token).Guarded();
            Assert.Equal(i, Assert.Single(read.Buffer.FirstSpan.ToArray()));
            pipe.Input.AdvanceTo(read.Buffer.End);
        }

        peer.EndSending();
        Assert.True((await pipe.Input.ReadAsync(Guard.Token).Guarded()).IsCompleted);
        await pipe.DisposeAsync();
        over.SetResult();
        await fixture.UntilAsync(() => socket.GetStatistics().ClosedConnections == 1);
        socket.Dispose();
        Assert.Equal(SocketEventTypes.MonitorStopped, (await monitor.ReadAsync(Guard.Token).Guarded()).Type); // It was no loss.
    }

    [Fact]
    public async Task Bytes_that_a_peer_sent_before_its_end_wait_for_a_slow_reader_of_the_pipe()
    {
        var time = new ManualTimeProvider();
        await using var fixture = new StreamFixture(time: time);
        StreamSocket socket = fixture.Context.CreateStream();
        (StreamPipe pipe, RawPeer peer) = await OpenAsync(fixture, socket, "tcp://127.0.0.1:0", weConnect: true);
        await EndOutputAsync(fixture, pipe, peer);
        byte[] bytes = Wire.Pattern(300_000); // More than the pipe takes, less than the system does.
        await peer.SendAsync(bytes);
        peer.EndSending();
        await PassAsync(fixture, time);
        Wire.AssertSame(bytes, await ReadToEndAsync(pipe.Input));
        await pipe.DisposeAsync();
    }

    [Fact]
    public async Task Over_tls_Input_is_read_on_behind_close_notify()
    {
        using var certificates = new TestCertificates();
        var time = new ManualTimeProvider();
        await using var fixture = new StreamFixture(time: time);
        StreamSocket server = fixture.Context.CreateStream();
        server.Options.Tls.Certificate = certificates.Server;
        var asked = new TaskCompletionSource<byte[]>(TaskCreationOptions.RunContinuationsAsynchronously);
        var goOn = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        string endpoint = server.BindPipe("tls://127.0.0.1:0", async pipe =>
        {
            asked.SetResult(await ReadToEndAsync(pipe.Input));
            await goOn.Task;
            await pipe.Output.WriteAsync(new byte[] { 2 }, Guard.Token);
        });
        StreamSocket client = fixture.Context.CreateStream();
        client.Options.Tls.CaFile = certificates.CaFile;
        await using StreamPipe pipe = await client.ConnectPipeAsync(endpoint, Guard.Token).Guarded();
        await pipe.Output.WriteAsync(new byte[] { 1 }, Guard.Token);
        await pipe.Output.CompleteAsync();
        Assert.Equal([1], await asked.Task.Guarded());
        await fixture.SettleAsync();
        await PassAsync(fixture, time);
        goOn.SetResult();
        Assert.Equal([2], await ReadToEndAsync(pipe.Input));
    }

    [Fact]
    public async Task Over_ws_a_peer_that_does_not_answer_our_CLOSE_is_cut_off_after_CloseTimeout()
    {
        var time = new ManualTimeProvider();
        await using var fixture = new StreamFixture(time: time);
        StreamSocket client = fixture.Context.CreateStream();
        RawListener listener = fixture.Listen();
        Task<StreamPipe> connecting = client.ConnectPipeAsync(RawWebSocket.WsOf(listener), Guard.Token).AsTask();
        RawWebSocket peer = fixture.Own(await RawWebSocket.AcceptAsync(listener));
        await using StreamPipe pipe = await connecting.Guarded();
        await pipe.Output.CompleteAsync();
        Assert.Equal(1000, (await peer.ReadFrameAsync())!.Code);
        // It may have been on its way.
        await peer.SendAsync(RawWebSocket.Frame(RawWebSocket.Fin | RawWebSocket.Binary, [1], masked: false));
        ReadResult read = await pipe.Input.ReadAsync(Guard.Token).Guarded();
        Assert.Equal(1, read.Buffer.Length);
        pipe.Input.AdvanceTo(read.Buffer.End);
        await fixture.SettleAsync();
        Task<ReadResult> next = pipe.Input.ReadAsync(Guard.Token).AsTask();
        Assert.False(next.IsCompleted);
        await fixture.UntilAsync(() =>
        {
            time.Advance(CloseTimeout); // Its timer may be armed late: the pool goes on behind what was read.
            return next.IsCompleted;
        });
        await Assert.ThrowsAsync<IOException>(() => next);
        await fixture.UntilAsync(() => client.GetStatistics().ClosedConnections == 1);
    }

    [Theory]
    [InlineData("input")]
    [InlineData("dispose")]
    [InlineData("peer")]
    [InlineData("endpoint")]
    [InlineData("socket")]
    [InlineData("context")]
    public async Task A_pipe_that_connected_ends_CloseTimeout_after_whatever_makes_an_end_of_reading(string what)
    {
        var time = new ManualTimeProvider();
        await using var fixture = new StreamFixture(time: time);
        StreamSocket socket = fixture.Context.CreateStream();
        (StreamPipe pipe, RawPeer peer) = await OpenAsync(fixture, socket, "tcp://127.0.0.1:0", weConnect: true);
        await EndOutputAsync(fixture, pipe, peer);
        await PassAsync(fixture, time);
        Assert.False(pipe.Input.TryRead(out _));
        switch (what)
        {
            case "input":
                await pipe.Input.CompleteAsync();
                break;
            case "dispose":
                await pipe.DisposeAsync();
                break;
            case "peer":
                Assert.True(socket.Disconnect(pipe.Id));
                break;
            case "endpoint":
                socket.Disconnect(socket.LastEndpoint);
                break;
            case "socket":
                socket.Dispose();
                break;
            default:
                _ = fixture.Context.ShutdownAsync(Timeout.InfiniteTimeSpan, Guard.Token);
                break;
        }

        await AssertEndsInTimeAsync(fixture, time, socket);
        await pipe.DisposeAsync();
    }

    [Theory]
    [InlineData("handler")]
    [InlineData("endpoint")]
    [InlineData("context")]
    public async Task A_pipe_that_came_in_ends_CloseTimeout_after_whatever_makes_an_end_of_reading(string what)
    {
        var time = new ManualTimeProvider();
        await using var fixture = new StreamFixture(time: time);
        StreamSocket socket = fixture.Context.CreateStream();
        var over = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        (StreamPipe pipe, RawPeer peer) = await OpenAsync(fixture, socket, "tcp://127.0.0.1:0", weConnect: false, over.Task);
        await EndOutputAsync(fixture, pipe, peer);
        await PassAsync(fixture, time);
        Assert.False(pipe.Input.TryRead(out _));
        _ = HandleAsync();
        if (what is "endpoint")
        {
            socket.Unbind(socket.LastEndpoint);
        }
        else if (what is "context")
        {
            _ = fixture.Context.ShutdownAsync(Timeout.InfiniteTimeSpan, Guard.Token);
        }

        await AssertEndsInTimeAsync(fixture, time, socket);

        async Task HandleAsync()
        {
            if (what is not "handler")
            {
                await Assert.ThrowsAsync<IOException>(() => pipe.Input.ReadAsync(Guard.Token).Guarded());
            }

            over.SetResult();
        }
    }

    [Fact]
    public async Task A_context_that_has_no_time_left_ends_a_pipe_that_reads_on_at_once()
    {
        await using var fixture = new StreamFixture(time: new ManualTimeProvider());
        StreamSocket socket = fixture.Context.CreateStream();
        (StreamPipe pipe, RawPeer peer) = await OpenAsync(fixture, socket, "tcp://127.0.0.1:0", weConnect: true);
        await EndOutputAsync(fixture, pipe, peer);
        await fixture.Context.ShutdownAsync(TimeSpan.Zero, Guard.Token).Guarded();
        await Assert.ThrowsAsync<IOException>(() => pipe.Input.ReadAsync(Guard.Token).Guarded());
        await pipe.DisposeAsync();
    }

    [Fact]
    public async Task IdleTimeout_ends_a_peer_that_falls_silent_behind_our_end_and_says_so()
    {
        var time = new ManualTimeProvider();
        TimeSpan limit = CloseTimeout * 3;
        await using var fixture = new StreamFixture(time: time);
        StreamSocket socket = fixture.Context.CreateStream(new StreamOptions { IdleTimeout = limit });
        using EventReader monitor = socket.ReadEvents(SocketEventTypes.Disconnected);
        (StreamPipe pipe, RawPeer peer) = await OpenAsync(fixture, socket, "tcp://127.0.0.1:0", weConnect: true);
        await EndOutputAsync(fixture, pipe, peer);
        for (int i = 0; i < 3; i++)
        {
            time.Advance(limit * 0.9);
            await peer.SendAsync(new byte[] { 1 });
            pipe.Input.AdvanceTo((await pipe.Input.ReadAsync(Guard.Token).Guarded()).Buffer.End);
            await fixture.SettleAsync();
        }

        time.Advance(limit);
        await fixture.UntilAsync(() => time.ArmedTimers > 0);
        Assert.Equal(0, socket.GetStatistics().ClosedConnections);
        time.Advance(CloseTimeout); // As any connection that is ended so: its peer may still end it in order.
        IOException thrown = await Assert.ThrowsAsync<IOException>(() => pipe.Input.ReadAsync(Guard.Token).Guarded());
        Assert.Contains("nothing received for 00:00:15", thrown.Message, StringComparison.Ordinal);
        SocketEvent ended = await monitor.NextAsync(SocketEventTypes.Disconnected);
        Assert.Equal((4L, "nothing received for 00:00:15"), (ended.ToNativeValue(), ended.Detail));
        await pipe.DisposeAsync();
    }

    [Fact]
    public async Task A_reset_behind_our_end_is_a_loss_for_who_reads_on()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Context.CreateStream();
        using EventReader monitor = socket.ReadEvents(SocketEventTypes.Disconnected);
        (StreamPipe pipe, RawPeer peer) = await OpenAsync(fixture, socket, "tcp://127.0.0.1:0", weConnect: true);
        await EndOutputAsync(fixture, pipe, peer);
        peer.Reset();
        await Assert.ThrowsAsync<IOException>(() => pipe.Input.ReadAsync(Guard.Token).Guarded());
        SocketEvent ended = await monitor.NextAsync(SocketEventTypes.Disconnected);
        Assert.Equal((4L, "ConnectionReset"), (ended.ToNativeValue(), ended.Detail));
        await pipe.DisposeAsync();
    }

    /// <summary>A pipe and its plain peer. Of one that came in, the handler lasts as long as <paramref name="over"/> says.</summary>
    private static async Task<(StreamPipe Pipe, RawPeer Peer)> OpenAsync(
        StreamFixture fixture, StreamSocket socket, string endpoint, bool weConnect, Task? over = null)
    {
        if (!weConnect)
        {
            var came = new TaskCompletionSource<StreamPipe>(TaskCreationOptions.RunContinuationsAsynchronously);
            RawPeer client = await fixture.ConnectAsync(socket.BindPipe(endpoint, pipe =>
            {
                came.SetResult(pipe);
                return over!;
            }));
            return (await came.Task.Guarded(), client);
        }

        EndPoint address = RawPeer.EndPointOf(endpoint);
        using var listener = new Socket(address.AddressFamily, SocketType.Stream, ProtocolType.Unspecified);
        listener.Bind(address);
        listener.Listen();
        StreamPipe made = await socket.ConnectPipeAsync(
            address is UnixDomainSocketEndPoint ? endpoint : $"tcp://{listener.LocalEndPoint}", Guard.Token).Guarded();
        return (made, fixture.Own(new RawPeer(await listener.AcceptAsync(Guard.Token).Guarded())));
    }

    /// <summary>Our side ends, and the peer sees that.</summary>
    private static async Task EndOutputAsync(StreamFixture fixture, StreamPipe pipe, RawPeer peer)
    {
        await pipe.Output.WriteAsync(new byte[] { 1 }, Guard.Token);
        await pipe.Output.CompleteAsync();
        Assert.Equal([1], await peer.ReadToEndAsync());
        await fixture.SettleAsync();
    }

    /// <summary>Lets so much time pass that a limit of CloseTimeout would have ended the connection.</summary>
    private static async Task PassAsync(StreamFixture fixture, ManualTimeProvider time)
    {
        time.Advance(CloseTimeout * 10);
        await fixture.SettleAsync();
    }

    /// <summary>The peer does not end its side, which is waited for for CloseTimeout and no longer.</summary>
    private static async Task AssertEndsInTimeAsync(StreamFixture fixture, ManualTimeProvider time, StreamSocket socket)
    {
        await fixture.UntilAsync(() => time.ArmedTimers > 0);
        time.Advance(CloseTimeout * 0.9);
        await fixture.SettleAsync();
        Assert.Equal(0, socket.GetStatistics().ClosedConnections);
        time.Advance(CloseTimeout * 0.1);
        await fixture.UntilAsync(() => socket.GetStatistics().ClosedConnections == 1);
    }

    private static async Task<byte[]> ReadToEndAsync(PipeReader reader)
    {
        using var all = new MemoryStream();
        await reader.CopyToAsync(all, Guard.Token).Guarded();
        return all.ToArray();
    }
}
