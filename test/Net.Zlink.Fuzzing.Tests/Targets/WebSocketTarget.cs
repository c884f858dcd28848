using System.Net;
using System.Net.Sockets;
using System.Net.WebSockets;
using System.Text;
using Net.Zlink.Buffers;
using Net.Zlink.Transports;
using Net.Zlink.Transports.WebSocket;
using Xunit;

namespace Net.Zlink.Fuzzing;

/// <summary>The frames of a WebSocket behind our stream. An input's first byte chooses the side and the size of reads.</summary>
internal sealed class WebSocketTarget : FuzzTarget
{
    private static readonly WireStream s_inner = CreateInner();

    public override IEnumerable<byte[]> Seeds =>
    [
        [0, 0x82, 0x81, 1, 2, 3, 4, 5, 0x02, 0x80, 1, 2, 3, 4, 0x80, 0x81, 0, 0, 0, 0, 7, 0x88, 0x82, 0, 0, 0, 0, 3, 0xE8],
        [1, 0x82, 1, 5, 0x89, 2, 6, 7, 0x8A, 0, 0x82, 126, 1, 0, 0xF7, 4, 0x88, 2, 3, 0xE8],
        [3, 0x82, 127, 0, 0, 0, 0, 0, 0, 0x20, 0, 0xF7, 128, 0x81, 2, 0xC3, 0xA4, 0x88, 0],
    ];

    public override byte[][] Words =>
    [
        [0x82, 0x81, 0, 0, 0, 0, 1], [0x89, 0x80, 0, 0, 0, 0], [0x88, 0x82, 0, 0, 0, 0, 3, 0xE8], [0x80, 0x80, 0, 0, 0, 0], [0x82, 1, 5],
        [0x89, 0], [0x88, 2, 3, 0xE8], [0x82, 126], [0x82, 127, 0, 0, 0, 0], [0x81], [0x01], [0x00], [0xF7, 64], [0x8A, 0],
    ];

    protected override void Try(byte[] input)
    {
        if (input.Length == 0)
        {
            return;
        }

        byte[] bytes = Expand(input.AsSpan(1));
        string whole = Read([bytes], input[0]);
        Assert.Equal(whole, Read(Cut(bytes), input[0]));
    }

    private string Read(IEnumerable<byte[]> pieces, byte choice)
    {
        bool isServer = (choice & 1) == 0;
        long before = Pool.GetStatistics().Live;
        var said = new StringBuilder();
        using var wire = new ScriptedStream(pieces);
        var stream = new FrameStream(wire, s_inner, Pool);
        using (var socket = WebSocket.CreateFromStream(
            stream, new WebSocketCreationOptions { IsServer = isServer, KeepAliveInterval = TimeSpan.Zero }))
        {
            stream.IsOver = () => socket.State == WebSocketState.Closed;
            said.Append(ReadAll(socket, new byte[(choice & 2) == 0 ? 100 : 64 * 1024]));
            said.Append(' ').Append(socket.State);
        }

        stream.Release();
        Assert.Equal(before, Pool.GetStatistics().Live);

        // A client's answers have a random mask.
        said.Append(" answered ").Append(isServer ? Show(wire.Written) : $"{wire.Written.Length}");
        return said.ToString();
    }

    private string ReadAll(WebSocket socket, byte[] buffer)
    {
        using var message = new MemoryStream();
        var said = new StringBuilder();
        while (true)
        {
            s_inner.BeginTurn();
            ValueWebSocketReceiveResult result;
            try
            {
                result = Complete(socket.ReceiveAsync(buffer.AsMemory(), CancellationToken.None));
            }
            catch (WebSocketException end)
            {
                Reached((int)end.WebSocketErrorCode);
                return said.Append(Show(message.ToArray())).Append(" ! ").Append(end.WebSocketErrorCode).ToString();
            }

            Reached(((int)result.MessageType * 8) + (result.EndOfMessage ? 4 : 0) + Math.Min(3, result.Count) + 64);
            message.Write(buffer, 0, result.Count);
            if (result.MessageType == WebSocketMessageType.Close)
            {
                Reached(1000 + (((int?)socket.CloseStatus ?? 0) / 100));
                said.Append("closed ").Append(socket.CloseStatus).Append(' ').Append(socket.CloseStatusDescription);
                if (socket.State == WebSocketState.CloseReceived)
                {
                    WebSocketCloseStatus status = socket.CloseStatus is { } given and not WebSocketCloseStatus.Empty ? given
                        : WebSocketCloseStatus.NormalClosure;
                    Complete(socket.CloseOutputAsync(status, null, CancellationToken.None));
                }

                return said.ToString();
            }

            if (result.EndOfMessage)
            {
                said.Append(result.MessageType).Append(' ').AppendLine(Show(message.ToArray()));
                message.SetLength(0);
            }
        }
    }

    /// <summary>Nothing waits for another thread, but a read that has taken much rests until the next turn.</summary>
    private static T Complete<T>(ValueTask<T> task)
    {
        while (!task.IsCompleted)
        {
            s_inner.BeginTurn();
            s_inner.TryContinue();
        }

        return task.GetAwaiter().GetResult();
    }

    /// <summary>Only its turns are used.</summary>
    private static WireStream CreateInner()
    {
        using var listener = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        listener.Listen(1);
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        socket.Connect(listener.LocalEndPoint!);
        return new WireStream(socket, BufferPool.Shared);
    }

    private static void Complete(Task task) => task.GetAwaiter().GetResult();

    /// <summary>Each piece is at least one read. After the last one the peer has ended.</summary>
    private sealed class ScriptedStream(IEnumerable<byte[]> pieces) : MemoryStream
    {
        private readonly Queue<byte[]> _pieces = new(pieces);
        private readonly MemoryStream _written = new();

        public byte[] Written => _written.ToArray();

        public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
        {
            if (buffer.IsEmpty)
            {
                return default;
            }

            if (Position == Length && _pieces.TryDequeue(out byte[]? next))
            {
                SetLength(0);
                Write(next);
                Position = 0;
            }

            return new ValueTask<int>(Read(buffer.Span));
        }

        public override ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
        {
            _written.Write(buffer.Span);
            return default;
        }
    }
}
