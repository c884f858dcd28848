using System.Buffers;
using System.IO.Pipelines;
using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Net.Zlink.Tests.Transports.WebSocket;
using Xunit;

namespace Net.Zlink.Tests.Stream;

/// <summary>A pipe over WebSocket whose peer's TCP ends without a CLOSE: what had come is read, and then Input fails.</summary>
public sealed class PipeCutTests
{
    private const byte First = RawWebSocket.Binary; // A fragment that others follow.
    private const byte Whole = RawWebSocket.Fin | RawWebSocket.Binary;

    [Theory]
    [InlineData("nothing")]
    [InlineData("a message")]
    [InlineData("a first fragment")]
    [InlineData("a message and some of another")]
    public async Task Input_fails_behind_all_that_had_come(string said)
    {
        await using var fixture = new StreamFixture();
        StreamSocket client = fixture.Context.CreateStream();
        using EventReader monitor = client.ReadEvents(SocketEventTypes.Disconnected);
        (StreamPipe pipe, RawWebSocket peer) = await PairAsync(fixture, client);
        await peer.SendAsync(said switch
        {
            "nothing" => [],
            "a message" => Frame(Whole, "abc"u8),
            "a first fragment" => Frame(First, "abc"u8),
            _ => [.. Frame(Whole, "abc"u8), .. Frame(Whole, new byte[256])[..^253]],
        });
        peer.Peer.EndSending();
        (byte[] came, Exception? failure) = await ReadAsync(pipe.Input);
        Assert.Equal(said is "nothing" ? [] : "abc"u8.ToArray(), came.Take(3));
        Assert.Contains("without a CLOSE", Assert.IsType<IOException>(failure).Message, StringComparison.Ordinal);
        await Assert.ThrowsAsync<IOException>(() => pipe.Input.ReadAsync(Guard.Token).Guarded());
        Assert.Throws<IOException>(() => pipe.Input.TryRead(out _));
        await pipe.DisposeAsync();
        // As of framed peers.
        Assert.Equal("the peer ended the connection", (await monitor.NextAsync(SocketEventTypes.Disconnected)).Detail);
    }

    [Fact]
    public async Task A_reader_that_takes_it_byte_by_byte_gets_all_of_it_first()
    {
        await using var fixture = new StreamFixture();
        (StreamPipe pipe, RawWebSocket peer) = await PairAsync(fixture, fixture.Context.CreateStream());
        await peer.SendAsync(Frame(Whole, "abc"u8));
        peer.Peer.EndSending();
        foreach (byte expected in "abc"u8.ToArray())
        {
            ReadResult result = await pipe.Input.ReadAsync(Guard.Token).Guarded();
            Assert.False(result.IsCompleted);
            Assert.Equal(expected, result.Buffer.FirstSpan[0]);
            pipe.Input.AdvanceTo(result.Buffer.GetPosition(1));
        }

        await Assert.ThrowsAsync<IOException>(() => pipe.Input.ReadAsync(Guard.Token).Guarded());
        await pipe.DisposeAsync();
    }

    [Fact]
    public async Task A_reader_that_waits_for_more_than_came_hears_that_no_more_will_come()
    {
        await using var fixture = new StreamFixture();
        (StreamPipe pipe, RawWebSocket peer) = await PairAsync(fixture, fixture.Context.CreateStream());
        await peer.SendAsync(Frame(Whole, "abc"u8));
        peer.Peer.EndSending();
        await Assert.ThrowsAsync<IOException>(() => pipe.Input.ReadAtLeastAsync(4, Guard.Token).Guarded());
        await pipe.DisposeAsync();
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task With_a_CLOSE_of_either_side_Input_ends_in_order(bool isOurs)
    {
        await using var fixture = new StreamFixture();
        (StreamPipe pipe, RawWebSocket peer) = await PairAsync(fixture, fixture.Context.CreateStream());
        await peer.SendAsync(Frame(Whole, "abc"u8));
        if (isOurs)
        {
            await pipe.Output.CompleteAsync();
            Assert.Equal(1000, (await peer.ReadFrameAsync())!.Code);
        }
        else
        {
            await peer.SendAsync(RawWebSocket.CloseFrame(1000, masked: false));
        }

        peer.Peer.EndSending();
        (byte[] came, Exception? failure) = await ReadAsync(pipe.Input);
        Assert.Equal("abc"u8.ToArray(), came);
        Assert.Null(failure);
        await pipe.DisposeAsync();
    }

    private static byte[] Frame(byte first, ReadOnlySpan<byte> payload) => RawWebSocket.Frame(first, payload.ToArray(), masked: false);

    private static async Task<(StreamPipe Pipe, RawWebSocket Peer)> PairAsync(StreamFixture fixture, StreamSocket client)
    {
        RawListener listener = fixture.Listen();
        Task<StreamPipe> connecting = client.ConnectPipeAsync(RawWebSocket.WsOf(listener), Guard.Token).AsTask();
        RawWebSocket peer = fixture.Own(await RawWebSocket.AcceptAsync(listener));
        return (await connecting.Guarded(), peer);
    }

    private static async Task<(byte[] Came, Exception? Failure)> ReadAsync(PipeReader input)
    {
        var came = new ArrayBufferWriter<byte>();
        try
        {
            while (true)
            {
                ReadResult result = await input.ReadAsync(Guard.Token).Guarded();
                foreach (ReadOnlyMemory<byte> segment in result.Buffer)
                {
                    came.Write(segment.Span);
                }

                input.AdvanceTo(result.Buffer.End);
                if (result.IsCompleted)
                {
                    return (came.WrittenSpan.ToArray(), null);
                }
            }
        }
        catch (IOException e)
        {
            return (came.WrittenSpan.ToArray(), e);
        }
    }
}
