using System.Net.Sockets;
using System.Net.WebSockets;
using Net.Zlink.Buffers;
using Net.Zlink.Transports;
using Net.Zlink.Transports.WebSocket;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Transports.WebSocket;

/// <summary>How long one read of a WebSocket keeps the thread that began it, which may be a shard.</summary>
public sealed class FrameStreamTests
{
    [Fact]
    public async Task A_read_that_answers_one_ping_after_the_other_rests_until_the_next_turn()
    {
        const int Pings = 20_000;
        byte[] data = RawWebSocket.Frame(RawWebSocket.Fin | RawWebSocket.Binary, [7]);
        await using var beneath = new AnsweredStream(
            [.. Enumerable.Repeat(RawWebSocket.Frame(RawWebSocket.Fin | RawWebSocket.Ping, []), Pings).SelectMany(static ping => ping),
            .. data]);
        using var pool = new BufferPool();
        (Socket peer, Socket ours) = await ConnectedPairAsync();
        using Socket disposed = peer;
        ours.Blocking = true; // As the stream requires.
        await using var inner = new WireStream(ours, pool);
        await using var stream = new FrameStream(beneath, inner, pool);
        using var webSocket = System.Net.WebSockets.WebSocket.CreateFromStream(
            stream, new WebSocketCreationOptions { IsServer = true, KeepAliveInterval = TimeSpan.Zero });
        byte[] into = new byte[16];
        inner.BeginTurn();

        ValueTask<ValueWebSocketReceiveResult> read = webSocket.ReceiveAsync(into.AsMemory(), CancellationToken.None);
        Assert.InRange(beneath.Answers, 1, 200);
        Assert.False(inner.TryContinue());
        while (!read.IsCompleted)
        {
            inner.BeginTurn();
            Assert.True(inner.TryContinue());
        }

        ValueWebSocketReceiveResult result = await read;
        Assert.Equal(Pings, beneath.Answers);
        Assert.Equal((1, 7), (result.Count, into[0]));
        stream.Release();
    }

    /// <summary>Has all of it at once, and takes whatever is written.</summary>
    private sealed class AnsweredStream(byte[] bytes) : MemoryStream(bytes)
    {
        public int Answers { get; private set; }

        public override ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
        {
            Answers++;
            return default;
        }
    }
}
