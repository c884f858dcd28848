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
    ReadAheadStream stream,
    TlsStream? tls,
    BufferPool pool,
    bool isServer,
    TimeSpan pingInterval,
    TimeSpan closeTimeout,
    TimeProvider time)
    : IoStreamWire(socket, transport, pool, tls?.Reads, tls?.Writes)
{
    // A native peer's limit, counted as bytes arrive: the library does not report a header's length.
    private const long LargestMessage = 64L * 1024 * 1024;

    // A frame stays in one message of ours, as fragments, up to this: well below a peer's limit.
    private const long LongestOwnMessage = 32L * 1024 * 1024;

    private static readonly string s_wordless = new WebSocketException(WebSocketError.Faulted).Message;

    private static readonly TaskCompletionSource s_isChecked = CreateChecked();

    private long _received;
    private long _sent;
    private bool _peerClosed;
    private volatile bool _isOver;
    private bool _hasEnded;
    private TaskCompletionSource? _checked;

    public override bool IsPacked => true;

    public override bool EndsByHalves => false;

    public override TimeSpan PingInterval => pingInterval;

    public bool IsCutOff { get; private set; }

    public override WireStatus EndSending(WireEnd end)
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
        return End(() => EndAsync(status));
    }

    public override void Dispose()
    {
        base.Dispose();
        FailLateWrites();
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    protected override async ValueTask<int> ReadAsync(Memory<byte> into)
    {
        stream.BeginTurn();
        tls?.BeginTurn();
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
                await PartAsync(answer: null).ConfigureAwait(false);
                break;
            }

            if (result.MessageType == WebSocketMessageType.Close)
            {
                _peerClosed = true;
                _isOver = true;
                if (webSocket.State == WebSocketState.CloseReceived)
                {
                    await PartAsync(webSocket.CloseStatus ?? WebSocketCloseStatus.NormalClosure).ConfigureAwait(false);
                }

                break;
            }

            _received += result.Count;
            if (_received > LargestMessage)
            {
                Explain(SocketError.MessageSize, $"a WebSocket message of more than {LargestMessage} bytes");
                await PartAsync(WebSocketCloseStatus.MessageTooBig).ConfigureAwait(false);
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

    protected override ValueTask<int> ReadRawAsync(Memory<byte> into) => default;

    protected override ValueTask WriteAsync(ReadOnlyMemory<byte> bytes, bool endsMidFrame)
    {
        if (bytes.IsEmpty)
        {
            return stream.PingAsync(isServer);
        }

        if (_isOver)
        {
            return FailLate();
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
        return FailLate();
    }

    protected override WireStatus ClassifyEnd()
    {
        FailLateWrites();
        return _peerClosed ? WireStatus.Ended : WireStatus.Refused;
    }

    protected override WireStatus? Classify(Exception exception)
    {
        if (exception is not WebSocketException fault)
        {
            return IoStreamErrors.Classify(exception, Explain);
        }

        if (fault.InnerException is { } inner && IoStreamErrors.IsOfStream(inner))
        {
            return IoStreamErrors.Classify(inner, Explain);
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
        webSocket.Dispose();
        stream.Release();
    }

    private static TaskCompletionSource CreateChecked()
    {
        var judged = new TaskCompletionSource();
        judged.SetResult();
        return judged;
    }

    private void FailLateWrites() => Interlocked.CompareExchange(ref _checked, s_isChecked, null)?.TrySetResult();

    private ValueTask FailLate()
    {
        tls?.Writes.Leave();
        return FailLateAsync();
    }

    /// <summary>
    /// A write after a CLOSE completes when the engine gets the peer's end: an earlier failure would abort the connection and destroy our
    /// answer.
    /// </summary>
    private async ValueTask FailLateAsync()
    {
        TaskCompletionSource made = new();
        TaskCompletionSource judged = Interlocked.CompareExchange(ref _checked, made, null) ?? made;
        await judged.Task.ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
        throw new IOException("The peer has closed the WebSocket.");
    }

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

    private async Task PartAsync(WebSocketCloseStatus? answer)
    {
        _isOver = true;
        using var deadline = new Deadline(closeTimeout, time, CancellationToken.None);
        try
        {
            await CloseAsync(answer, deadline.Token).ConfigureAwait(false);
            if (isServer && !stream.HasEndedWriting)
            {
                if (tls is not null)
                {
                    // Without it the peer's TLS would report our end as an attack.
                    await tls.ShutdownByReaderAsync().WaitAsync(deadline.Token).ConfigureAwait(false);
                }

                _hasEnded = true;
                Socket.Shutdown(SocketShutdown.Send);
            }

            await stream.DrainAsync(deadline.Token).ConfigureAwait(false);
        }
        catch (Exception e) when (e is WebSocketException || IoStreamErrors.IsOfStream(e))
        {
            // Disconnected, or it did not end in time: the end in both cases.
        }
    }

    private async Task EndAsync(WebSocketCloseStatus? status)
    {
        tls?.Writes.Enter();
        try
        {
            await CloseAsync(status, CancellationToken.None).ConfigureAwait(false);
        }
        finally
        {
            tls?.Writes.Leave();
        }

        stream.EndWriting();
        if (tls is not null && !_hasEnded)
        {
            await tls.ShutdownAsync().ConfigureAwait(false);
        }
    }

    private Task CloseAsync(WebSocketCloseStatus? status, CancellationToken cancellation) =>
        status is { } code ? webSocket.CloseOutputAsync(code, code == WebSocketCloseStatus.MessageTooBig ? CloseReason : null, cancellation)
            : Task.CompletedTask;
}
