using System.Net;
using System.Net.Sockets;
using System.Net.WebSockets;
using System.Runtime.CompilerServices;
using Net.Zlink.Buffers;

namespace Net.Zlink.Transports.WebSocket;

/// <summary>Bytes over an upgraded connection: what is written becomes binary messages, and of what is read only the payload counts, not how it was cut (docs/protocol.md, ws).</summary>
/// <param name="socket">The connected socket beneath; owned.</param>
/// <param name="scheme">ws or wss.</param>
/// <param name="webSocket">The library's WebSocket over <paramref name="stream"/>; owned.</param>
/// <param name="stream">The bytes beneath; owned.</param>
/// <param name="pool">Where read buffers come from.</param>
internal sealed class WebSocketWire(Socket socket, string scheme, System.Net.WebSockets.WebSocket webSocket, Stream stream, BufferPool pool)
    : StreamedWire(socket, scheme, pool)
{
    // What a native peer takes as one message. Counted as it arrives: the library does not tell what a header announces.
    private const long LargestMessage = 64L * 1024 * 1024;

    // A frame is kept in one message of ours, as fragments, up to here: well below what a peer takes.
    private const long LongestOwnMessage = 32L * 1024 * 1024;

    private long _received;
    private long _sent;
    private bool _peerClosed;

    /// <inheritdoc/>
    public override string Format(EndPoint? address) => Endpoints.Format(address, Scheme);

    /// <inheritdoc/>
    public override WireStatus EndSending(WireEnd end)
    {
        // As natively a fault ends TCP without a word; what the library refused it has said already.
        WebSocketCloseStatus? status = webSocket.State switch
        {
            WebSocketState.CloseReceived => webSocket.CloseStatus ?? WebSocketCloseStatus.Empty,
            WebSocketState.Open when end == WireEnd.Finished => WebSocketCloseStatus.NormalClosure,
            WebSocketState.Open when end == WireEnd.GoingAway => WebSocketCloseStatus.EndpointUnavailable,
            _ => null,
        };
        return End(status is { } code ? () => webSocket.CloseOutputAsync(code, statusDescription: null, CancellationToken.None) : null);
    }

    /// <inheritdoc/>
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    protected override async ValueTask<int> ReadAsync(Memory<byte> into)
    {
        while (true)
        {
            ValueWebSocketReceiveResult result = await webSocket.ReceiveAsync(into, CancellationToken.None).ConfigureAwait(false);
            if (result.MessageType == WebSocketMessageType.Close)
            {
                _peerClosed = true;
                return 0;
            }

            _received += result.Count;
            if (_received > LargestMessage)
            {
                Explain(SocketError.MessageSize, $"a WebSocket message of more than {LargestMessage} bytes");
                await webSocket.CloseOutputAsync(WebSocketCloseStatus.MessageTooBig, statusDescription: null, CancellationToken.None).ConfigureAwait(false);
                return 0;
            }

            if (result.EndOfMessage)
            {
                _received = 0;
            }

            if (result.Count > 0 || (into.IsEmpty && !result.EndOfMessage))
            {
                return result.Count;
            }
        }
    }

    /// <inheritdoc/>
    protected override ValueTask<int> ReadRawAsync(Memory<byte> into) => stream.ReadAsync(into);

    /// <inheritdoc/>
    protected override ValueTask WriteAsync(ReadOnlyMemory<byte> bytes, bool endsMidFrame)
    {
        _sent += bytes.Length;
        bool ends = !endsMidFrame || _sent >= LongestOwnMessage;
        if (ends)
        {
            _sent = 0;
        }

        return webSocket.SendAsync(bytes, WebSocketMessageType.Binary, ends, CancellationToken.None);
    }

    /// <inheritdoc/>
    protected override WireStatus JudgeEnd() => _peerClosed ? WireStatus.Ended : WireStatus.Refused;

    /// <inheritdoc/>
    protected override WireStatus? Judge(Exception exception)
    {
        if (exception is not WebSocketException fault)
        {
            return StreamFaults.Judge(exception, Explain);
        }

        if (fault.InnerException is { } inner && StreamFaults.IsOfStream(inner))
        {
            return StreamFaults.Judge(inner, Explain);
        }

        if (fault.WebSocketErrorCode == WebSocketError.ConnectionClosedPrematurely)
        {
            return WireStatus.Ended; // Without a CLOSE, as natively.
        }

        Explain(SocketError.ConnectionReset, $"the peer broke the WebSocket protocol: {StreamFaults.WordsOf(fault)}");
        return WireStatus.Refused;
    }

    /// <inheritdoc/>
    protected override void Free()
    {
        webSocket.Dispose();
        stream.Dispose();
    }
}
