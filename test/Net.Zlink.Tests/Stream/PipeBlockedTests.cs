using System.Buffers;
using System.IO.Pipelines;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Stream;

/// <summary>Reads and flushes of a raw connection that wait for a peer which does nothing, and what ends their wait.</summary>
public sealed class PipeBlockedTests
{
    private const int MoreThanTheSystemTakes = 16 * 1024 * 1024;

    [Theory]
    [InlineData("pipe", -1, "this side ended the connection")]
    [InlineData("abort", -1, "had enough")]
    [InlineData("disconnect", -1, "this side ended the connection")]
    [InlineData("socket", -1, "this side ended the connection")]
    [InlineData("socket", 0, "this side ended the connection")]
    [InlineData("socket", 100, "this side ended the connection")]
    [InlineData("context", 100, "the context")]
    public async Task A_flush_that_waits_for_its_peer_fails_with_the_reason_why_this_side_ends_it(string how, int linger, string words)
    {
        await using var fixture = new StreamFixture();
        RawListener listener = fixture.Listen();
        var time = TimeSpan.FromMilliseconds(linger);
        StreamSocket socket = fixture.Context.CreateStream(new StreamOptions { Linger = time });
        StreamPipe pipe = await socket.ConnectPipeAsync(listener.Endpoint, Guard.Token).Guarded();
        RawPeer peer = fixture.Own(await listener.AcceptAsync());
        await pipe.Output.WriteAsync(new byte[MoreThanTheSystemTakes], Guard.Token).Guarded();
        Task<FlushResult> flush = pipe.Output.WriteAsync(new byte[1], Guard.Token).AsTask();
        Assert.Single(await peer.ReadAsync(1));
        Assert.False(flush.IsCompleted, "a flush has not waited for a peer that does not read");
        Task closed = socket.Parts.AllClosed;
        switch (how)
        {
            case "pipe":
                await pipe.DisposeAsync();
                break;
            case "abort":
                pipe.Abort("had enough");
                break;
            case "disconnect":
                Assert.True(socket.Disconnect(pipe.Id));
                break;
            case "socket":
                socket.Dispose();
                break;
            default:
                await fixture.Context.ShutdownAsync(time, Guard.Token).Guarded();
                break;
        }

        IOException failure = await Assert.ThrowsAsync<IOException>(() => flush.Guarded());
        Assert.Contains(words, failure.Message, StringComparison.Ordinal);
        if (how is not "abort")
        {
            // What was accepted is written within the linger time, if the peer reads in time.
            int more = (await peer.ReadToEndAsync()).Length;
            Assert.InRange(more, linger < 0 ? MoreThanTheSystemTakes : 0, linger == 0 ? MoreThanTheSystemTakes - 1 : int.MaxValue);
        }

        peer.Dispose();
        socket.Dispose();
        await closed.Guarded();
    }

    [Fact]
    public async Task A_read_whose_time_is_over_loses_no_byte()
    {
        await using var fixture = new StreamFixture();
        (StreamPipe pipe, RawPeer peer) = await fixture.ConnectPipeAsync();
        using var over = new CancellationTokenSource(TimeSpan.FromMilliseconds(20));
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => pipe.Input.ReadAsync(over.Token).Guarded());
        await peer.SendAsync(new byte[] { 1, 2 });
        Assert.Equal([1, 2], (await pipe.Input.ReadAtLeastAsync(2, Guard.Token).Guarded()).Buffer.ToArray());
        await pipe.DisposeAsync();
    }

    [Fact]
    public async Task A_read_that_waits_ends_with_its_pipe()
    {
        await using var fixture = new StreamFixture();
        (StreamPipe pipe, RawPeer peer) = await fixture.ConnectPipeAsync();
        Task<ReadResult> read = pipe.Input.ReadAsync(Guard.Token).AsTask();
        await pipe.DisposeAsync();
        Assert.True((await read.Guarded()).IsCompleted);
        Assert.Empty(await peer.ReadToEndAsync());
    }
}
