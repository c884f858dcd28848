using System.Buffers;
using System.IO.Pipelines;
using System.Net;
using System.Net.Sockets;
using System.Runtime.CompilerServices;
using System.Security.Cryptography.X509Certificates;
using Net.Zlink.Buffers;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.WebSocket;
using Net.Zlink.Transports;

namespace Net.Zlink.Engine;

/// <summary>
/// A connection as two byte pipes, for users with a protocol of their own, without framing. Two async loops move bytes between wire and
/// pipes, at about half the throughput of the framed path.
/// </summary>
internal sealed class PipeConnection : IDuplexPipe, IWireEvents
{
    // Larger reads gained nothing through a pipe.
    private const int ReadSize = 16 * 1024;

    // The exceptions that completed Input and Output, with their connection: a pipe throws the very object that completed it.
    private static readonly ConditionalWeakTable<Exception, PipeConnection> NotifiedExceptions = [];

    private readonly Wire _wire;
    private readonly WireSignal _input = new();
    private readonly WireSignal _sent = new();
    private readonly WireSignal _ended = new();
    private readonly Pipe _received;
    private readonly Pipe _toSend;
    private readonly TimeProvider _time;
    private readonly ConnectionSettings _settings;
    private readonly WaitLimit _idle;
    private readonly WaitLimit _stuck;
    private readonly CancellationTokenSource _aborted = new();
    private readonly TaskCompletionSource _abandoned = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly TaskCompletionSource _inputEnded = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly TaskCompletionSource _unread = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private ITimer? _deadline;
    private volatile bool _ending;
    private volatile bool _isFlushed;
    private volatile bool _avoidsReset;
    private EndCause? _cause;
    private long _receivedBytes;
    private long _sentBytes;

    /// <summary><paramref name="writing"/> runs the writes, later than the flush that causes one: a write takes what several left.
    /// </summary>
    public PipeConnection(Wire wire, BufferPool pool, TimeProvider time, ConnectionSettings settings, PipeScheduler writing)
    {
        _wire = wire;
        wire.Attach(this);
        _time = time;
        _settings = settings;
        _idle = new WaitLimit(time, settings.IdleTimeout, OnIdle);
        _stuck = new WaitLimit(time, settings.WriteTimeout, OnStalled);

        _received = new Pipe(new PipeOptions(pool, PipeScheduler.ThreadPool, PipeScheduler.Inline, useSynchronizationContext: false));
        _toSend = new Pipe(new PipeOptions(pool, writing, PipeScheduler.ThreadPool, useSynchronizationContext: false));

#pragma warning disable CS0618 // A flush reports the end only when input comes, perhaps never.
        _received.Writer.OnReaderCompleted(static (_, state) => ((TaskCompletionSource)state!).TrySetResult(), _unread);
#pragma warning restore CS0618
    }

    public PipeReader Input => _received.Reader;

    public PipeWriter Output => _toSend.Writer;

    public EndPoint? RemoteEndPoint => _wire.RemoteEndPoint;

    public EndPoint? LocalEndPoint => _wire.LocalEndPoint;

    public X509Certificate2? RemoteCertificate => _wire.RemoteCertificate;

    public UpgradeHead? Request => _wire.Request;

    public string? SubProtocol => _wire.SubProtocol;

    public long ReceivedBytes => Volatile.Read(ref _receivedBytes);

    public long SentBytes => Volatile.Read(ref _sentBytes);

    public DisconnectReason EndReason => _cause?.Reason ?? DisconnectReason.Unknown;

    public string? EndDetail => _cause?.Detail;

    public Task InputEnded => _inputEnded.Task;

    public Task Abandoned => _abandoned.Task;

    private bool IsRead => _wire.EndsByHalves && !_unread.Task.IsCompleted;

    public async Task RunAsync()
    {
        Task receiving = ReceiveAsync();
        bool flushed = await SendAsync().ConfigureAwait(false);
        _isFlushed = true;
        Interlocked.Exchange(ref _deadline, null)?.Dispose();
        if (flushed)
        {
            await EndOurSideAsync(receiving).ConfigureAwait(false);
        }

        NoteEnd(DisconnectReason.Local);
        Abort(resets: !flushed && !_avoidsReset);
        await receiving.ConfigureAwait(false);
        _idle.Dispose();
        _stuck.Dispose();
        _wire.Dispose();
    }

    /// <summary>
    /// Whether the exception is, or results from, one that Input or Output reported: the connection's end, not a fault of the user's code.
    /// </summary>
    public bool HasNotified(Exception? exception)
    {
        while (exception is not null
            && (!NotifiedExceptions.TryGetValue(exception, out PipeConnection? source) || !ReferenceEquals(source, this)))
        {
            exception = exception.InnerException;
        }

        return exception is not null;
    }

    public IOException Notify(IOException exception)
    {
        NotifiedExceptions.Add(exception, this);
        return exception;
    }

    public void NoteEnd(DisconnectReason reason, string? detail = null) =>
        Interlocked.CompareExchange(ref _cause, new EndCause(reason, detail), null);

    public void RequestClose(DisconnectReason reason, CloseMode mode, TimeSpan? linger = null)
    {
        NoteEnd(reason);
        if (mode != CloseMode.Orderly)
        {
            _abandoned.TrySetResult();
            Abort(resets: mode == CloseMode.Abort);
        }
        else
        {
            LimitWriting(linger ?? _settings.Linger);
        }

        _unread.TrySetResult();
        _ending = true;
        _toSend.Reader.CancelPendingRead();
    }

    public void LimitWriting()
    {
        NoteEnd(DisconnectReason.Local);
        LimitWriting(_settings.Linger);
        _unread.TrySetResult();
    }

    bool IWireEvents.IsBusy => false;

    void IWireEvents.OnInput() => _input.Set();

    void IWireEvents.OnSent() => _sent.Set();

    void IWireEvents.OnEnded() => _ended.Set();

    private void LimitWriting(TimeSpan linger)
    {
        if (linger == Timeout.InfiniteTimeSpan || _isFlushed)
        {
            return;
        }

        // Without linger time, the pipe's content is not dropped, but a peer that does not read gets only the close timeout.
        ITimer timer = _time.CreateTimer(static state => ((PipeConnection)state!).Abort(resets: false), this,
            linger > TimeSpan.Zero ? linger : _settings.CloseTimeout, Timeout.InfiniteTimeSpan);
        Interlocked.Exchange(ref _deadline, timer)?.Dispose();
        if (_isFlushed)
        {
            timer.Dispose();
        }
    }

    private async Task EndOurSideAsync(Task receiving)
    {
        if (!IsRead)
        {
            NoteEnd(DisconnectReason.Local);
        }

        try
        {
            WireStatus status = _wire.EndSending(EndReason == DisconnectReason.ContextTerminated ? WireEnd.GoingAway : WireEnd.Finished);
            if (status == WireStatus.WouldWait)
            {
                await WaitForPeerAsync(_ended.WaitAsync().AsTask(), receiving).ConfigureAwait(false);
            }

            if (status != WireStatus.Failed)
            {
                await WaitForPeerAsync(receiving, receiving).ConfigureAwait(false);
            }
        }
        catch (Exception e) when (e is ObjectDisposedException or TimeoutException or OperationCanceledException)
        {
            // The connection is gone, or the peer does not end its side in time.
        }
    }

    private async Task WaitForPeerAsync(Task done, Task receiving)
    {
        if (IsRead)
        {
            await Task.WhenAny(done, receiving, _unread.Task).WaitAsync(_aborted.Token).ConfigureAwait(false);
        }

        if (!IsRead)
        {
            NoteEnd(DisconnectReason.Local);
        }

        await done.WaitAsync(_settings.CloseTimeout, _time, _aborted.Token).ConfigureAwait(false);
    }

    private async Task ReceiveAsync()
    {
        Exception? failure = null;
        PipeWriter writer = _received.Writer;
        try
        {
            while (await ReadAsync(writer).ConfigureAwait(false))
            {
                FlushResult result = await writer.FlushAsync(_aborted.Token).ConfigureAwait(false);
                if (result.IsCompleted)
                {
                    await DiscardAsync().ConfigureAwait(false);
                    break;
                }
            }
        }
        catch (Exception e)
        {
            NoteEnd(DisconnectReason.Local);
            failure = ExceptionToNotify(e);
        }

        await writer.CompleteAsync(failure).ConfigureAwait(false);
        _inputEnded.TrySetResult();
    }

    private async ValueTask<bool> ReadAsync(PipeWriter writer)
    {
        while (true)
        {
            await WaitForInputAsync().ConfigureAwait(false);

            switch (Read(writer))
            {
                case WireStatus.Done:
                    return true;
                case WireStatus.WouldWait:
                    break;
                case WireStatus.Ended:
                    NoteEnd(_isFlushed ? DisconnectReason.Local : DisconnectReason.Remote);
                    return false;
                default:
                    throw Lost();
            }
        }
    }

    /// <summary>
    /// A wait may end for input that was read already: then one byte is read first, so that a silent peer holds no buffer.
    /// </summary>
    private WireStatus Read(PipeWriter writer)
    {
        Span<byte> one = stackalloc byte[1];
        bool hasInput = _wire.Available > 0;
        WireStatus status = _wire.Receive(hasInput ? writer.GetSpan(ReadSize) : one, out int received);
        if (status == WireStatus.Done)
        {
            Interlocked.Add(ref _receivedBytes, received);
            if (hasInput)
            {
                writer.Advance(received);
            }
            else
            {
                writer.Write(one);
            }
        }

        return status;
    }

    private async ValueTask WaitForInputAsync()
    {
        bool isPending = _wire.WaitForInput();
        while (true)
        {
            if (isPending)
            {
                _idle.Begin();
                await _input.WaitAsync().ConfigureAwait(false);
                _idle.End();
            }

            WireStatus status = _wire.FinishWait();
            if (status == WireStatus.Failed)
            {
                throw Lost();
            }

            if (status == WireStatus.Done)
            {
                return;
            }

            isPending = true;
        }
    }

    private async Task DiscardAsync()
    {
        byte[] scratch = new byte[4096];
        long discarded = 0;
        while (true)
        {
            await WaitForInputAsync().ConfigureAwait(false);
            WireStatus status = _wire.Receive(scratch, out int received);
            discarded += received;
            if (status is not (WireStatus.Done or WireStatus.WouldWait))
            {
                return;
            }

            if (discarded > Wire.MaxDiscarded)
            {
                await Task.Delay(_isFlushed ? Timeout.InfiniteTimeSpan : Wire.DiscardPause, _time, _aborted.Token).ConfigureAwait(false);
                discarded = 0;
            }
        }
    }

    private async Task<bool> SendAsync()
    {
        Exception? failure = null;
        PipeReader reader = _toSend.Reader;
        bool inOrder = false;
        try
        {
            while (true)
            {
                ReadResult result = await reader.ReadAsync(_aborted.Token).ConfigureAwait(false);
                bool isEmpty = result.Buffer.IsEmpty;
                foreach (ReadOnlyMemory<byte> segment in result.Buffer)
                {
                    await WriteAsync(segment).ConfigureAwait(false);
                }

                reader.AdvanceTo(result.Buffer.End);
                if (result.IsCompleted || (_ending && isEmpty))
                {
                    inOrder = true;
                    break;
                }

                if (_ending)
                {
                    reader.CancelPendingRead();
                }
            }
        }
        catch (Exception e)
        {
            NoteEnd(DisconnectReason.Local);
            failure = ExceptionToNotify(e);
        }

        await reader.CompleteAsync(failure).ConfigureAwait(false);
        return inOrder;
    }

    private async ValueTask WriteAsync(ReadOnlyMemory<byte> bytes)
    {
        while (!bytes.IsEmpty)
        {
            WireStatus status = _wire.Send(bytes.Span, out int sent);
            if (status == WireStatus.WouldWait)
            {
                ReadOnlyMemory<byte> next = _stuck.IsSet ? bytes[..Math.Min(bytes.Length, ConnectionWriter.MaxTimedSend)] : bytes;
                if (_wire.BeginSend(next, endsMidFrame: false))
                {
                    _stuck.Begin();
                    await _sent.WaitAsync().ConfigureAwait(false);
                    _stuck.End();
                }

                status = _wire.FinishSend();
                sent = _wire.SentBytes;
            }

            if (status != WireStatus.Done)
            {
                throw Lost();
            }

            Interlocked.Add(ref _sentBytes, sent);
            bytes = bytes[sent..];
        }
    }

    private IOException Lost()
    {
        string words = _wire.Detail ?? _wire.Error.ToString();
        NoteEnd(DisconnectReason.TransportError, words);
        return EndReason is DisconnectReason.TransportError or DisconnectReason.Remote
            ? Notify(new IOException($"The connection was lost: {words}.", new SocketException((int)_wire.Error)))
            : Ended();
    }

    private IOException Ended() => Notify(new IOException($"The connection was ended: {EndDetail ?? EndReason.Words()}."));

    /// <summary>The user cancelled nothing: a wait that we cancelled, or a socket that we disposed, is reported as the connection's
    /// end.</summary>
    private Exception ExceptionToNotify(Exception exception) =>
        exception is OperationCanceledException cancelled && cancelled.CancellationToken == _aborted.Token
            || (exception is ObjectDisposedException && _aborted.IsCancellationRequested)
            ? Ended()
            : exception;

    // Both check the wire first: after the process was suspended, timers fire before completions arrive.
    private bool OnIdle()
    {
        if (_wire.HasUnread)
        {
            return true;
        }

        NoteEnd(DisconnectReason.IdleTimeout, $"nothing received for {_settings.IdleTimeout}");
        // As a framed connection: the linger time is not for a peer that may not read either.
        RequestClose(DisconnectReason.IdleTimeout, CloseMode.Orderly, _settings.CloseTimeout);
        return false;
    }

    private bool OnStalled()
    {
        if (_wire.IsWritable)
        {
            return true;
        }

        NoteEnd(DisconnectReason.WriteTimeout, $"the peer read nothing for {_settings.WriteTimeout}");
        Abort(resets: true);
        return false;
    }

    private void Abort(bool resets)
    {
        if (!resets)
        {
            // Set first: the end of our side fails a pending write at once, whose continuation disposes the socket too.
            _avoidsReset = true;
            _wire.AvoidReset();
        }

        if (!_aborted.IsCancellationRequested)
        {
            _aborted.Cancel();
        }

        _wire.Cut();
    }

    private sealed record EndCause(DisconnectReason Reason, string? Detail);
}
