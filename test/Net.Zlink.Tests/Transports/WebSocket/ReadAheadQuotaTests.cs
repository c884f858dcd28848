using System.Net.WebSockets;
using Net.Zlink.Buffers;
using Net.Zlink.Tests.Support;
using Net.Zlink.Transports.WebSocket;
using Xunit;

namespace Net.Zlink.Tests.Transports.WebSocket;

/// <summary>How long one read of a WebSocket keeps the thread that began it, which may be a shard.</summary>
public sealed class ReadAheadQuotaTests
{
    [Fact]
    public async Task A_read_that_answers_one_ping_after_the_other_leaves_its_callers_thread_soon()
    {
        const int Pings = 20_000;
        byte[] data = RawWebSocket.Frame(RawWebSocket.Fin | RawWebSocket.Binary, [7]);
        await using var beneath = new AnsweredStream(
            [.. Enumerable.Repeat(RawWebSocket.Frame(RawWebSocket.Fin | RawWebSocket.Ping, []), Pings).SelectMany(static ping => ping),
            .. data]);
        using var pool = new BufferPool();
        await using var stream = new ReadAheadStream(beneath, pool);
        using var webSocket = System.Net.WebSockets.WebSocket.CreateFromStream(
            stream, new WebSocketCreationOptions { IsServer = true, KeepAliveInterval = TimeSpan.Zero });
        byte[] into = new byte[16];
        stream.BeginTurn();

        ValueTask<ValueWebSocketReceiveResult> read = webSocket.ReceiveAsync(into.AsMemory(), Guard.Token);
        int here = beneath.AnswersOfTheFirstThread;
        ValueWebSocketReceiveResult result = await read.Guarded();

        Assert.InRange(here, 1, 200);
        Assert.Equal(Pings, beneath.Answers);
        Assert.Equal((1, 7), (result.Count, into[0]));
        stream.Release();
    }

    /// <summary>Has all of it at once, and takes whatever is written.</summary>
    private sealed class AnsweredStream(byte[] bytes) : MemoryStream(bytes)
    {
        private readonly int _first = Environment.CurrentManagedThreadId;

        public int Answers { get; private set; }

        public int AnswersOfTheFirstThread { get; private set; }

        public override ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
        {
            Answers++;
            AnswersOfTheFirstThread += Environment.CurrentManagedThreadId == _first ? 1 : 0;
            return default;
        }
    }
}
