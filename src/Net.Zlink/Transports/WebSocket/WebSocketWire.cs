using System.Net.Sockets;
using System.Net.WebSockets;
using System.Runtime.CompilerServices;
using Net.Zlink.Buffers;
using Net.Zlink.Transports.Tls;

namespace Net.Zlink.Transports.WebSocket;

/// <summary>Bytes over an upgraded connection: what is written becomes binary messages, and of what is read only the payload counts, not
/// how it was cut (docs/protocol.md, ws).</summary>
/// <remarks>The closing handshake happens in here, within a read: the engine hears of the end when it is complete, as the native core
/// does.</remarks>
/// <param name="socket">The connected socket beneath; owned.</param>
/// <param name="scheme">ws or wss.</param>
/// <param name="webSocket">The library's WebSocket over <paramref name="stream"/>; owned.</param>
/// <param name="stream">The bytes beneath; owned.</param>
/// <param name="tls">The TLS session of wss, beneath <paramref name="stream"/>; null for ws.</param>
/// <param name="pool">Where read buffers come from.</param>
/// <param name="isServer">This side listens: after a CLOSE it ends TCP first, and a client waits for that.</param>
/// <param name="closeTimeout">How long the peer's end of TCP is waited for after a CLOSE.</param>
/// <param name="time">For that time.</param>
internal sealed class WebSocketWire(
    Socket socket,
    string scheme,
    System.Net.WebSockets.WebSocket webSocket,
    ReadAheadStream stream,
    TlsStream? tls,
    BufferPool pool,
    bool isServer,
    TimeSpan closeTimeout,
    TimeProvider time)
    : IoStreamWire(socket, scheme, pool, tls?.Reads, tls?.Writes)
{
    // What a native peer takes as one message. Counted as it arrives: the library does not tell what a header announces.
    private const long LargestMessage = 64L * 1024 * 1024;

    // A frame is kept in one message of ours, as fragments, up to here: well below what a peer takes.
    private const long LongestOwnMessage = 32L * 1024 * 1024;

    // What the library says where it has no words for a fault: that there was one.
    private static readonly string s_wordless = new WebSocketException(WebSocketError.Faulted).Message;

    private static readonly TaskCompletionSource s_isChecked = CreateChecked();

    private long _received;
    private long _sent;
    private bool _peerClosed;
    private volatile bool _isOver; // Set by who reads, asked by who writes.
    private bool _hasEnded;
    private TaskCompletionSource? _checked; // Made by the first write that comes too late, or by the end itself, whichever is first.

    /// <inheritdoc/>
    public override bool IsPacked => true;

    /// <inheritdoc/>
    public override bool EndsByHalves => false;

    /// <summary>The peer's TCP, or TLS, has ended, and neither side had said CLOSE. Set before the end is told.</summary>
    public bool IsCutOff { get; private set; }

    /// <inheritdoc/>
    public override WireStatus EndSending(WireEnd end)
    {
        // As natively a fault ends TCP without a word, unless somebody has found one; what the library refused it has said already.
        WebSocketCloseStatus? status = webSocket.State switch
        {
            WebSocketState.Open when end == WireEnd.Finished => WebSocketCloseStatus.NormalClosure,
            WebSocketState.Open when end == WireEnd.GoingAway => WebSocketCloseStatus.EndpointUnavailable,
            WebSocketState.Open when Complaint is not null => WebSocketCloseStatus.MessageTooBig,
            _ => null,
        };
        return End(() => EndAsync(status));
    }

    /// <inheritdoc/>
    public override void Dispose()
    {
        base.Dispose();
        FailLateWrites();
    }

    /// <inheritdoc/>
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
                // The library has said CLOSE with the right code already.
                Explain(SocketError.ConnectionReset, $"the peer broke the WebSocket protocol: {WordsOf(fault)}");
                await PartAsync(answer: null).ConfigureAwait(false);
                break;
            }

            if (result.MessageType == WebSocketMessageType.Close)
            {
                _peerClosed = true;
                _isOver = true; // The library refuses to read behind it.
                if (webSocket.State == WebSocketState.CloseReceived)
                {
                    await PartAsync(webSocket.CloseStatus ?? WebSocketCloseStatus.NormalClosure).ConfigureAwait(false);
                }

                break; // Otherwise it answers ours: that end is under way.
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

    /// <inheritdoc/>
    // What came behind the peer's fault is thrown away already.
    protected override ValueTask<int> ReadRawAsync(Memory<byte> into) => default;

    /// <inheritdoc/>
    protected override ValueTask WriteAsync(ReadOnlyMemory<byte> bytes, bool endsMidFrame)
    {
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

        _ = write.AsTask().Exception; // CLOSE was said since: an answer, or, by the library within the read, the one for a fault.
        return FailLate();
    }

    /// <inheritdoc/>
    protected override WireStatus ClassifyEnd()
    {
        FailLateWrites();
        return _peerClosed ? WireStatus.Ended : WireStatus.Refused;
    }

    /// <inheritdoc/>
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
            return WireStatus.Ended; // Without a CLOSE, as natively.
        }

        Explain(SocketError.ConnectionReset, "the WebSocket is closing");
        return WireStatus.Failed;
    }

    /// <inheritdoc/>
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
        tls?.Writes.Leave(); // Nothing is written, and what it waits for may wait for writes.
        return FailLateAsync();
    }

    /// <summary>
    /// A write behind a CLOSE, where nothing may follow. It takes until the peer's end that the engine hears of it: a failure before that
    /// would be the first it hears, an abort, which destroys our answer. One that comes when the end is known already fails on another
    /// thread, hence behind what the shard is at: as a rule that is telling the end, which then has the peer's reason and not this one.
    /// </summary>
    private async ValueTask FailLateAsync()
    {
        TaskCompletionSource made = new();
        TaskCompletionSource judged = Interlocked.CompareExchange(ref _checked, made, null) ?? made;
        await judged.Task.ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
        throw new IOException("The peer has closed the WebSocket.");
    }

    /// <summary>The peer sent what RFC 6455 forbids; other faults are about the connection, or about an operation that comes too
    /// late.</summary>
    private static bool IsBreach(WebSocketException fault) =>
        fault.WebSocketErrorCode is not (WebSocketError.ConnectionClosedPrematurely or WebSocketError.InvalidState)
            && (fault.InnerException is null || !IoStreamErrors.IsOfStream(fault.InnerException));

    /// <summary>What was wrong. It has no words for two faults: that of a CLOSE, behind which both sides have said it, and that of a
    /// text.</summary>
    private string WordsOf(WebSocketException fault)
    {
        string words = IoStreamErrors.WordsOf(fault);
        return !string.Equals(words, s_wordless, StringComparison.Ordinal) ? words
            : webSocket.State == WebSocketState.Closed ? "a CLOSE with a code that may not be sent, or with half of one"
            : "a text message that is no UTF-8; binary messages hold any bytes";
    }

    /// <summary>Ends the conversation: our CLOSE, our end of TCP if we are the one to begin with it, and whatever still comes up to the
    /// peer's end.</summary>
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
                    // Without it the peer's TLS has to take our end for an attack.
                    await tls.ShutdownByReaderAsync().WaitAsync(deadline.Token).ConfigureAwait(false);
                }

                _hasEnded = true;
                Socket.Shutdown(SocketShutdown.Send);
            }

            await stream.DrainAsync(deadline.Token).ConfigureAwait(false);
        }
        catch (Exception e) when (e is WebSocketException || IoStreamErrors.IsOfStream(e))
        {
            // Gone, or it does not end its side in time: that is the end, too.
        }
    }

    /// <summary>The end of our side by the engine's wish, with nothing being written. The reader may be about to end it too: this CLOSE is
    /// a write to it like any other.</summary>
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
            await tls.ShutdownAsync().ConfigureAwait(false); // As in PartAsync.
        }
    }

    /// <summary>Says CLOSE; null: nothing is to be said.</summary>
    private Task CloseAsync(WebSocketCloseStatus? status, CancellationToken cancellation) =>
        status is { } code ? webSocket.CloseOutputAsync(code, code == WebSocketCloseStatus.MessageTooBig ? Complaint : null, cancellation)
            : Task.CompletedTask;
}
