using System.Buffers;
using System.IO.Pipelines;
using System.Net.Sockets;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Stream;

/// <summary>A connection as raw bytes.</summary>
public sealed class PipeTests
{
    [Fact]
    public async Task Bytes_go_both_ways_unframed_and_the_handlers_end_is_the_connections()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Context.CreateStream();
        string endpoint = socket.BindPipe("tcp://127.0.0.1:0", static async pipe =>
        {
            ReadResult read = await pipe.Input.ReadAtLeastAsync(5, Guard.Token);
            await pipe.Output.WriteAsync(read.Buffer.Slice(0, 5).ToArray(), Guard.Token);
            pipe.Input.AdvanceTo(read.Buffer.End);
        });
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        await peer.SendAsync("he"u8.ToArray());
        await peer.SendAsync("llo"u8.ToArray());
        Assert.Equal("hello"u8.ToArray(), await peer.ReadToEndAsync());
    }

    [Fact]
    public async Task Both_ends_of_this_library_exchange_megabytes()
    {
        await using var fixture = new StreamFixture();
        StreamSocket server = fixture.Context.CreateStream();
        string endpoint = server.BindPipe("tcp://127.0.0.1:0", static pipe => pipe.Input.CopyToAsync(pipe.Output, Guard.Token));
        StreamSocket client = fixture.Context.CreateStream();
        await using StreamPipe pipe = await client.ConnectPipeAsync(endpoint, Guard.Token).Guarded();
        byte[] bytes = Wire.Pattern(5_000_000);
        Task writing = WriteAsync(pipe.Output, bytes);
        Wire.AssertSame(bytes, await ReadToEndAsync(pipe.Input));
        await writing;
        Assert.Equal(RawPeer.AddressOf(endpoint), pipe.RemoteEndPoint);
        await fixture.UntilAsync(() => server.GetStatistics().ClosedConnections == 1);
        Assert.Equal((5_000_000L, 5_000_000L), (server.GetStatistics().ReceivedBytes, server.GetStatistics().WrittenBytes));
    }

    [Fact]
    public async Task A_pipe_that_is_not_read_pushes_back_and_loses_nothing()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Context.CreateStream(new StreamOptions { ReceiveBufferSize = 64 * 1024 });
        var release = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var read = new TaskCompletionSource<byte[]>(TaskCreationOptions.RunContinuationsAsynchronously);
        string endpoint = socket.BindPipe("tcp://127.0.0.1:0", async pipe =>
        {
            await release.Task;
            read.SetResult(await ReadToEndAsync(pipe.Input));
        });
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        peer.Socket.SendBufferSize = 64 * 1024;
        byte[] bytes = Wire.Pattern(20_000_000);
        Task sending = peer.SendAsync(bytes);

        // The pipe takes 64 KiB before it stops reading, the kernel's buffers a few times that; the rest stays with the sender.
        await fixture.UntilAsync(() => socket.GetStatistics().ReceivedBytes >= 64 * 1024);
        Assert.False(sending.IsCompleted);
        Assert.InRange(socket.GetStatistics().ReceivedBytes, 64 * 1024, 256 * 1024);
        Assert.InRange(fixture.Pool.GetStatistics().BytesRented, 64 * 1024, 512 * 1024);
        release.SetResult();
        await sending;
        peer.EndSending();
        Wire.AssertSame(bytes, await read.Task.Guarded());
    }

    [Fact]
    public async Task Flushing_to_a_peer_that_does_not_read_waits()
    {
        await using var fixture = new StreamFixture();
        RawListener listener = fixture.Listen();
        StreamSocket client = fixture.Context.CreateStream(new StreamOptions { SendBufferSize = 16 * 1024 });
        await using StreamPipe pipe = await client.ConnectPipeAsync(listener.Endpoint, Guard.Token).Guarded();
        RawPeer peer = fixture.Own(await listener.AcceptAsync());
        byte[] bytes = Wire.Pattern(30_000_000);
        Task writing = WriteAsync(pipe.Output, bytes);
        await fixture.UntilAsync(() => client.GetStatistics().WrittenBytes > 0);
        Assert.False(writing.IsCompleted);
        Wire.AssertSame(bytes, await peer.ReadToEndAsync());
        await writing;
    }

    [Fact]
    public async Task Frames_cannot_be_sent_to_a_pipe()
    {
        await using var fixture = new StreamFixture();
        RawListener listener = fixture.Listen();
        StreamSocket client = fixture.Context.CreateStream();
        await using StreamPipe pipe = await client.ConnectPipeAsync(listener.Endpoint, Guard.Token).Guarded();
        Assert.False(client.To(pipe.Id).TrySend([1]).Tell(out SendFailure error));
        Assert.Equal(SendFailure.IsPipe, error);
        ZlinkException thrown = Assert.Throws<ZlinkException>(() => client.To(pipe.Id).Send([1]));
        Assert.Equal(ZlinkError.NotSupported, thrown.Error);
        thrown = await Assert.ThrowsAsync<ZlinkException>(() => client.To(pipe.Id).SendAsync(new byte[1], Guard.Token).Guarded());
        Assert.Equal(ZlinkError.NotSupported, thrown.Error);
        Assert.Equal(0, client.Broadcast([pipe.Id], [1]));
    }

    [Fact]
    public async Task Idle_pipes_hold_no_buffer_but_the_one_that_their_shard_reads_into()
    {
        await using var fixture = new StreamFixture(shards: 1);
        RawListener listener = fixture.Listen();
        StreamSocket client = fixture.Context.CreateStream();
        for (int i = 0; i < 3; i++)
        {
            StreamPipe pipe = await client.ConnectPipeAsync(listener.Endpoint, Guard.Token).Guarded();
            RawPeer peer = fixture.Own(await listener.AcceptAsync());
            await peer.SendAsync(new byte[] { 1, 2 });
            pipe.Input.AdvanceTo((await pipe.Input.ReadAtLeastAsync(2, Guard.Token).Guarded()).Buffer.End);
            await pipe.Output.WriteAsync(new byte[] { 3 }, Guard.Token);
            Assert.Equal([3], await peer.ReadAsync(1));
        }

        await fixture.UntilAsync(() => fixture.Pool.GetStatistics().Live == 1);
    }

    [Fact]
    public async Task Peers_that_come_together_get_a_pipe_each()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Context.CreateStream();
        string endpoint = socket.BindPipe("tcp://127.0.0.1:0", static pipe => pipe.Input.CopyToAsync(pipe.Output, Guard.Token));
        RawPeer[] peers = await Task.WhenAll(Enumerable.Range(0, 20).Select(_ => fixture.ConnectAsync(endpoint)));
        for (byte i = 0; i < peers.Length; i++)
        {
            await peers[i].SendAsync(new byte[] { i });
        }

        for (byte i = 0; i < peers.Length; i++)
        {
            Assert.Equal([i], await peers[i].ReadAsync(1));
            peers[i].EndSending();
        }
    }

    [Fact]
    public async Task A_flush_waits_while_the_peer_does_not_read_and_can_be_cancelled()
    {
        await using var fixture = new StreamFixture();
        (StreamPipe pipe, RawPeer peer) = await fixture.ConnectPipeAsync(new StreamOptions { SendBufferSize = 16 * 1024 });
        byte[] bytes = Wire.Pattern(1_000_000);
        int sent = 0;
        Task<FlushResult> flush = Task.FromResult(default(FlushResult));
        using var cancellation = new CancellationTokenSource();
        while (flush.IsCompleted)
        {
            flush = pipe.Output.WriteAsync(bytes, cancellation.Token).AsTask();
            sent += bytes.Length;
            await fixture.SettleAsync();
        }

        await cancellation.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => flush.Guarded());
        flush = pipe.Output.FlushAsync(Guard.Token).AsTask();
        pipe.Output.CancelPendingFlush();
        Assert.True((await flush.Guarded()).IsCanceled);
        flush = pipe.Output.FlushAsync(Guard.Token).AsTask();
        Assert.False(flush.IsCompleted);
        for (int left = sent; left > 0; left -= bytes.Length)
        {
            Wire.AssertSame(bytes, await peer.ReadAsync(bytes.Length)); // What was flushed before the cancellation has been sent.
        }

        Assert.False((await flush.Guarded()).IsCanceled);
    }

    [Fact]
    public async Task An_abort_ends_both_sides_with_its_reason_and_resets_the_peer()
    {
        await using var fixture = new StreamFixture();
        (StreamPipe pipe, RawPeer peer) = await fixture.ConnectPipeAsync();
        Assert.False(pipe.Ended.IsCancellationRequested);
        pipe.Abort("the request is too long");
        await fixture.UntilAsync(() => pipe.Ended.IsCancellationRequested);
        IOException read = await Assert.ThrowsAsync<IOException>(() => pipe.Input.ReadAsync(Guard.Token).Guarded());
        IOException write = await Assert.ThrowsAsync<IOException>(() => pipe.Output.WriteAsync(new byte[1], Guard.Token).Guarded());
        Assert.Equal("The connection was ended: the request is too long.", read.Message);
        Assert.Same(read, write);
        await Assert.ThrowsAsync<SocketException>(() => peer.ReadToEndAsync());
    }

    [Fact]
    public async Task Output_that_is_completed_with_an_exception_resets_the_peer()
    {
        await using var fixture = new StreamFixture();
        (StreamPipe pipe, RawPeer peer) = await fixture.ConnectPipeAsync();
        await pipe.Output.CompleteAsync(new FormatException("the application gave up"));
        await Assert.ThrowsAsync<SocketException>(() => peer.ReadToEndAsync());
    }

    [Fact]
    public async Task A_peers_end_is_told_to_who_does_not_read()
    {
        await using var fixture = new StreamFixture();
        (StreamPipe pipe, RawPeer peer) = await fixture.ConnectPipeAsync();
        await peer.SendAsync(new byte[] { 1 });
        peer.EndSending();
        await fixture.UntilAsync(() => pipe.Ended.IsCancellationRequested);
        Assert.Equal([1], await ReadToEndAsync(pipe.Input));
    }

    private static async Task WriteAsync(PipeWriter writer, byte[] bytes)
    {
        for (int sent = 0; sent < bytes.Length; sent += 50_000)
        {
            await writer.WriteAsync(bytes.AsMemory(sent, Math.Min(50_000, bytes.Length - sent)), Guard.Token).Guarded();
        }

        await writer.CompleteAsync();
    }

    private static async Task<byte[]> ReadToEndAsync(PipeReader reader)
    {
        using var all = new MemoryStream();
        await reader.CopyToAsync(all, Guard.Token).Guarded();
        return all.ToArray();
    }
}
