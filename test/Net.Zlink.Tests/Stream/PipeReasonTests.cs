using Net.Zlink.Monitoring;
using Net.Zlink.Porting;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Stream;

/// <summary>Why a raw connection ended, as events tell it, and the limits of time that end one.</summary>
public sealed class PipeReasonTests
{
    private static readonly TimeSpan Short = TimeSpan.FromMilliseconds(100);

    [Theory]
    [InlineData("end", "the peer ended the connection")]
    [InlineData("reset", "ConnectionReset")]
    public async Task A_peer_that_goes_is_told_with_what_it_did(string how, string words)
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Context.CreateStream();
        using EventReader monitor = socket.ReadEvents(SocketEventTypes.Disconnected);
        string endpoint = socket.BindPipe("tcp://127.0.0.1:0", static async pipe =>
        {
            try
            {
                await pipe.Input.CopyToAsync(pipe.Output, Guard.Token);
            }
            catch (IOException)
            {
                // The reset.
            }
        });
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        await peer.SendAsync(new byte[] { 1 });
        Assert.Equal([1], await peer.ReadAsync(1));
        if (how is "end")
        {
            peer.EndSending();
        }
        else
        {
            peer.Reset();
        }

        SocketEvent ended = await monitor.NextAsync(SocketEventTypes.Disconnected);
        Assert.Equal(4, ended.ToNativeValue());
        Assert.Contains(words, ended.Detail, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("handler")]
    [InlineData("output")]
    [InlineData("disconnect")]
    [InlineData("linger")]
    public async Task A_pipe_that_this_side_ends_raises_no_Disconnected_event(string how)
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Context.CreateStream(
            new StreamOptions { Linger = how is "linger" ? Short : Timeout.InfiniteTimeSpan });
        using EventReader monitor = socket.ReadEvents(SocketEventTypes.Disconnected | SocketEventTypes.MonitorStopped);
        string endpoint = socket.BindPipe("tcp://127.0.0.1:0", async pipe =>
        {
            if (how is "linger")
            {
                // More than the system takes, and the peer does not read.
                _ = pipe.Output.WriteAsync(new byte[16 * 1024 * 1024], Guard.Token).AsTask();
                return;
            }

            await pipe.Output.WriteAsync(new byte[] { 1 }, Guard.Token);
            if (how is "disconnect")
            {
                await pipe.Input.ReadAsync(Guard.Token);
            }
            else if (how is "output")
            {
                await pipe.Output.CompleteAsync();
                await pipe.Input.ReadAsync(Guard.Token);
            }
        });
        RawPeer peer = await fixture.ConnectAsync(endpoint, receiveBuffer: how is "linger" ? 4096 : 0);
        Assert.Single(await peer.ReadAsync(1));
        if (how is "disconnect")
        {
            Assert.True(socket.Disconnect(Assert.Single(socket.GetPeers()).Id));
        }

        if (how is not "linger")
        {
            Assert.Empty(await peer.ReadToEndAsync());
            peer.EndSending();
        }

        await fixture.UntilAsync(() => socket.GetStatistics().ClosedConnections == 1);
        socket.Dispose();
        Assert.Equal(SocketEventTypes.MonitorStopped, (await monitor.ReadAsync(Guard.Token).Guarded()).Type);
    }

    [Theory]
    [InlineData("tcp")]
    [InlineData("ws")]
    public async Task A_peer_that_resets_is_lost_and_its_handler_which_passes_that_on_has_not_failed(string scheme)
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Context.CreateStream();
        using EventReader monitor = socket.ReadEvents(SocketEventTypes.Disconnected | SocketEventTypes.HandlerFailed);
        string endpoint = socket.BindPipe($"{scheme}://127.0.0.1:0", static pipe => pipe.Input.CopyToAsync(pipe.Output, Guard.Token));
        StreamSocket client = fixture.Context.CreateStream();
        StreamPipe there = await client.ConnectPipeAsync(endpoint, Guard.Token).Guarded();
        await there.Output.WriteAsync(new byte[] { 1 }, Guard.Token);
        there.Input.AdvanceTo((await there.Input.ReadAsync(Guard.Token).Guarded()).Buffer.End);
        Assert.True(client.Disconnect(there.Id, abort: true));
        SocketEvent ended = await monitor.ReadAsync(Guard.Token).Guarded();
        Assert.Equal((SocketEventTypes.Disconnected, 4L), (ended.Type, ended.ToNativeValue()));
        Assert.Equal(0, socket.GetStatistics().HandlerFaults);
    }

    [Theory]
    [InlineData("reading")]
    [InlineData("unread")]
    [InlineData("writing")]
    public async Task A_pipe_that_this_side_aborts_says_so_with_an_IOException(string state)
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Context.CreateStream();
        var aborted = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var thrown = new TaskCompletionSource<Exception?>(TaskCreationOptions.RunContinuationsAsynchronously);
        string endpoint = socket.BindPipe("tcp://127.0.0.1:0", async pipe =>
        {
            if (state is not "reading")
            {
                await aborted.Task; // Meanwhile nothing is read, nor written.
            }

            thrown.SetResult(await Record.ExceptionAsync(async () =>
            {
                while (state is "writing")
                {
                    await pipe.Output.WriteAsync(new byte[] { 1 }, Guard.Token);
                }

                await pipe.Input.CopyToAsync(System.IO.Stream.Null, Guard.Token);
            }));
        });
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        if (state is "unread")
        {
            await peer.SendAsync(new byte[100_000]);
            await fixture.UntilAsync(() => socket.GetStatistics().ReceivedBytes >= 65_536); // As much as a pipe holds.
        }

        await fixture.UntilAsync(() => socket.GetPeers().Count == 1);
        Assert.True(socket.Disconnect(Assert.Single(socket.GetPeers()).Id, abort: true));
        aborted.SetResult();
        IOException failure = Assert.IsType<IOException>(await thrown.Task.Guarded());
        Assert.Contains("this side ended the connection", failure.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_pipe_that_is_aborted_before_its_shard_knows_it_has_its_handler_called_which_learns_of_it()
    {
        await using var fixture = new StreamFixture(shards: 1, furtherShards: 0);
        using var blocking = new BlockingHandler("connected");
        fixture.Bind(blocking, out string blocked);
        await fixture.ConnectAsync(blocked);
        await blocking.EnteredAsync();
        StreamSocket socket = fixture.Context.CreateStream();
        var thrown = new TaskCompletionSource<Exception?>(TaskCreationOptions.RunContinuationsAsynchronously);
        await fixture.ConnectAsync(socket.BindPipe("tcp://127.0.0.1:0",
            async pipe => thrown.SetResult(await Record.ExceptionAsync(() => pipe.Input.ReadAsync(Guard.Token).AsTask()))));
        await Guard.UntilAsync(() => socket.GetPeers().Count == 1, "the peer is announced");
        Assert.True(socket.Disconnect(Assert.Single(socket.GetPeers()).Id, abort: true));
        blocking.Open();
        Assert.Contains("this side ended the connection", Assert.IsType<IOException>(await thrown.Task.Guarded()).Message,
            StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_silent_peer_is_ended_by_IdleTimeout_and_one_that_talks_is_not()
    {
        var time = new ManualTimeProvider();
        var limit = TimeSpan.FromSeconds(10);
        await using var fixture = new StreamFixture(time: time);
        StreamSocket socket = fixture.Context.CreateStream(new StreamOptions { IdleTimeout = limit });
        using EventReader monitor = socket.ReadEvents(SocketEventTypes.Disconnected);
        var failed = new TaskCompletionSource<Exception?>(TaskCreationOptions.RunContinuationsAsynchronously);
        string endpoint = socket.BindPipe("tcp://127.0.0.1:0",
            async pipe => failed.SetResult(await Record.ExceptionAsync(() => pipe.Input.CopyToAsync(pipe.Output, Guard.Token))));
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        for (int i = 0; i < 5; i++)
        {
            await peer.SendAsync(new byte[] { 1 });
            Assert.Equal([1], await peer.ReadAsync(1));
            time.Advance(limit * 0.9);
        }

        await fixture.SettleAsync();
        Assert.Equal(1, socket.PeerCount);
        await peer.SendAsync(new byte[] { 1 });
        Assert.Equal([1], await peer.ReadAsync(1));
        await fixture.SettleAsync();
        time.Advance(limit);
        Assert.Empty(await peer.ReadToEndAsync());
        await Guard.UntilAsync(
            () =>
            {
                time.Advance(socket.Options.CloseTimeout); // It does not end its side: it is waited for that long.
                return failed.Task.IsCompleted;
            },
            "Input ends");
        IOException thrown = Assert.IsType<IOException>(await failed.Task);
        Assert.Contains("nothing received for 00:00:10", thrown.Message, StringComparison.Ordinal);
        SocketEvent ended = await monitor.NextAsync(SocketEventTypes.Disconnected);
        Assert.Equal((4L, "nothing received for 00:00:10"), (ended.ToNativeValue(), ended.Detail));
    }

    [Theory]
    [InlineData("tcp")]
    [InlineData("tls")]
    public async Task A_peer_that_takes_nothing_is_ended_by_WriteTimeout(string scheme)
    {
        using var own = new Transports.Tls.Authorities();
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Context.CreateStream(new StreamOptions { WriteTimeout = Short, SendBufferSize = 16 * 1024 });
        socket.Options.Tls.Certificate = own.Server;
        using EventReader monitor = socket.ReadEvents(SocketEventTypes.Disconnected);
        string endpoint = socket.BindPipe($"{scheme}://127.0.0.1:0", static async pipe =>
        {
            while (true)
            {
                await pipe.Output.WriteAsync(new byte[1024 * 1024], Guard.Token);
            }
        });
        StreamSocket client = fixture.Context.CreateStream(new StreamOptions { ReceiveBufferSize = 16 * 1024 });
        client.Options.Tls.CaFile = own.CaFile;
        // Takes what a pipe holds, and nobody reads it.
        await using StreamPipe there = await client.ConnectPipeAsync(endpoint, Guard.Token).Guarded();
        SocketEvent ended = await monitor.NextAsync(SocketEventTypes.Disconnected);
        Assert.Equal((4L, "the peer read nothing for 00:00:00.1000000"), (ended.ToNativeValue(), ended.Detail));
    }
}
