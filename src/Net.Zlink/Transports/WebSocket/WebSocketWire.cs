using System.Net.Sockets;
using System.Net.WebSockets;
using System.Runtime.CompilerServices;
using Net.Zlink.Buffers;
using Net.Zlink.Transports.Tls;

namespace Net.Zlink.Transports.WebSocket;

/// <summary>The closing handshake happens within a read; the engine gets the end when it is complete, as in the native core.</summary>
internal sealed class WebSocketWire(
    Socket socket,
    Transport transport,
    System.Net.WebSockets.WebSocket webSocket,
    FrameStream stream,
    TlsStream? tls,
    BufferPool pool,
    bool isServer,
    TimeSpan pingInterval,
    TimeSpan closeTimeout,
    TimeProvider time)
    : IoStreamWire(socket, transport, pool, stream.Inner)
{
    // A native peer's limit, counted as bytes arrive: the library does not report a header's length.
    private const long LargestMessage = 64L * 1024 * 1024;

    // A frame stays in one message of ours, as fragments, up to this: well below a peer's limit.
    private const long LongestOwnMessage = 32L * 1024 * 1024;

    private static readonly string s_wordless = new WebSocketException(WebSocketError.Faulted).Message;

    // After a CLOSE: the engine gets the peer's end.
    private readonly TaskCompletionSource _end = new();
    private long _received;
    private long _sent;
    private bool _peerClosed;
    private volatile bool _isOver;
    private volatile bool _hasEndedOurSide;
    private volatile bool _isOutOfTime;
    private bool _isParting;
    private WebSocketCloseStatus? _answer;
    private Task _parting = Task.CompletedTask;
    private ITimer? _limit;
    private long _discarded;

    public override bool IsPacked => true;

    public override bool EndsByHalves => false;

    public override TimeSpan PingInterval => pingInterval;

    public override void Dispose()
    {
        base.Dispose();
        _end.TrySetResult();
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    protected override async ValueTask<int> ReadAsync(Memory<byte> into)
    {
        while (!_isOver)
        {
            ValueWebSocketReceiveResult result;
            try
            {
                result = await webSocket.ReceiveAsync(into, CancellationToken.None).ConfigureAwait(false);
            }
            catch (WebSocketException fault) when (IsBreach(fault))
            {
                Explain(SocketError.ConnectionReset, $"the peer broke the WebSocket protocol: {WordsOf(fault)}");
                Part(answer: null);
                break;
            }

            if (result.MessageType == WebSocketMessageType.Close)
            {
                _peerClosed = true;
                _isOver = true;
                if (webSocket.State == WebSocketState.CloseReceived)
                {
                    Part(webSocket.CloseStatus ?? WebSocketCloseStatus.NormalClosure);
                }

                break;
            }

            _received += result.Count;
            if (_received > LargestMessage)
            {
                Explain(SocketError.MessageSize, $"a WebSocket message of more than {LargestMessage} bytes");
                Part(WebSocketCloseStatus.MessageTooBig);
                break;
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

        return 0;
    }

    /// <summary>After a CLOSE or a breach: answers, and reads until the peer has ended TCP, within the close timeout.</summary>
    protected override WireStatus? EndReading()
    {
        if (_isParting && _limit is null)
        {
            _limit = time.CreateTimer(static state => ((WebSocketWire)state!).OnOutOfTime(), this, closeTimeout, Timeout.InfiniteTimeSpan);
            _parting = PartAsync();
        }

        if (_isParting && !_isOutOfTime && Stream.TryDiscard(ref _discarded))
        {
            return null;
        }

        _limit?.Dispose();
        _end.TrySetResult();
        return _peerClosed ? WireStatus.Ended : WireStatus.Refused;
    }

    protected override ValueTask WriteAsync(ReadOnlyMemory<byte> bytes, bool endsMidFrame)
    {
        if (bytes.IsEmpty)
        {
            return stream.PingAsync(isServer);
        }

        if (_isOver)
        {
            return FailLateAsync();
        }

        _sent += bytes.Length;
        bool ends = !endsMidFrame || _sent >= LongestOwnMessage;
        if (ends)
        {
            _sent = 0;
        }

        ValueTask write = webSocket.SendAsync(bytes, WebSocketMessageType.Binary, ends, CancellationToken.None);
        if (!write.IsFaulted || !stream.HasClosed)
        {
            return write;
        }

        _ = write.AsTask().Exception;
        return FailLateAsync();
    }

    protected override async Task SayFarewellAsync(WireEnd end)
    {
        // As in the native core a fault ends TCP without a CLOSE, unless there is a reason to send; the library has sent one for what it
        // refused.
        WebSocketCloseStatus? status = webSocket.State switch
        {
            WebSocketState.Open when end == WireEnd.Finished => WebSocketCloseStatus.NormalClosure,
            WebSocketState.Open when end == WireEnd.GoingAway => WebSocketCloseStatus.EndpointUnavailable,
            WebSocketState.Open when CloseReason is not null => WebSocketCloseStatus.MessageTooBig,
            _ => null,
        };
        await _parting.ConfigureAwait(false);
        await CloseAsync(status).ConfigureAwait(false);
        stream.EndWriting();
        if (tls is not null && !_hasEndedOurSide)
        {
            await RunAtRestAsync(tls.ShutdownAsync).ConfigureAwait(false);
        }
    }

    protected override WireStatus? Classify(Exception exception)
    {
        if (exception is not WebSocketException fault)
        {
            return base.Classify(exception);
        }

        if (fault.InnerException is { } inner && base.Classify(inner) is { } status)
        {
            return status;
        }

        if (fault.WebSocketErrorCode == WebSocketError.ConnectionClosedPrematurely)
        {
            IsCutOff = !stream.HasClosed;
            return WireStatus.Ended;
        }

        Explain(SocketError.ConnectionReset, "the WebSocket is closing");
        return WireStatus.Failed;
    }

    protected override void Free()
    {
        _limit?.Dispose();
        webSocket.Dispose();
        stream.Release();
    }

    /// <summary>
    /// A write after a CLOSE fails when the engine gets the peer's end: an earlier failure would abort the connection and destroy our
    /// answer. Until then it holds up no farewell.
    /// </summary>
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
    private async ValueTask FailLateAsync()
    {
        EndWrite();
        await _end.Task.ConfigureAwait(false);
        BeginWrite();
        throw new IOException("The peer has closed the WebSocket.");
    }

    private void OnOutOfTime()
    {
        _isOutOfTime = true;
        OnInput();
    }

    private void Part(WebSocketCloseStatus? answer) => (_isOver, _isParting, _answer) = (true, true, answer);

    /// <summary>Other faults concern the connection, or a late operation.</summary>
    private static bool IsBreach(WebSocketException fault) =>
        fault.WebSocketErrorCode is not (WebSocketError.ConnectionClosedPrematurely or WebSocketError.InvalidState)
            && (fault.InnerException is null || !IoStreamErrors.IsOfStream(fault.InnerException));

    private string WordsOf(WebSocketException fault)
    {
        string words = IoStreamErrors.WordsOf(fault);
        return !string.Equals(words, s_wordless, StringComparison.Ordinal) ? words
            : webSocket.State == WebSocketState.Closed ? "a CLOSE with a code that may not be sent, or with half of one"
            : "a text message that is not UTF-8; binary messages hold any bytes";
    }

    private async Task PartAsync()
    {
        try
        {
            await CloseAsync(_answer).ConfigureAwait(false);
            if (isServer && !stream.HasEndedWriting)
            {
                _hasEndedOurSide = true;
                if (tls is not null)
                {
                    // Without it the peer's TLS would report our end as an attack.
                    await RunAtRestAsync(tls.ShutdownAsync).ConfigureAwait(false);
                }

                TryShutDown();
            }
        }
        catch (Exception e) when (e is WebSocketException || IoStreamErrors.IsOfStream(e))
        {
            // Disconnected: the end that follows.
        }
    }

    private async Task CloseAsync(WebSocketCloseStatus? status)
    {
        if (status is { } code)
        {
            BeginWrite();
            try
            {
                string? reason = code == WebSocketCloseStatus.MessageTooBig ? CloseReason : null;
                await webSocket.CloseOutputAsync(code, reason, CancellationToken.None).ConfigureAwait(false);
            }
            finally
            {
                EndWrite();
            }
        }
    }
}
