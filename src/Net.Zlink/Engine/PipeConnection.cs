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

/// <summary>A connection as two byte pipes, for those who bring a protocol of their own: no framing, no shard.</summary>
/// <remarks>
/// Two loops of plain awaits move bytes between wire and pipes. A pipe per connection costs about half the throughput of the framed path, so it is a
/// seam for users, not what the library itself runs on. Reading takes a buffer only when there is something, so an
/// idle connection holds none. Ends like a framed connection: write what was flushed, end our side, wait for the peer's end, dispose. But the user may end our side alone and read on:
/// the peer's end is then waited for without a limit, and for the close timeout only from when nobody reads any more.
/// </remarks>
internal sealed class PipeConnection : IDuplexPipe, IWireEvents
{
    // What one receive may take: one page of the pool's, several times; larger reads gained nothing through a pipe.
    private const int ReadSize = 16 * 1024;

    // What Input and Output failed with, and whose they were: a pipe throws the very object that it was completed with.
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
    private readonly TaskCompletionSource _unread = new(TaskCreationOptions.RunContinuationsAsynchronously); // Completes when nobody reads any more: the user has done with it, or this side ends it.
    private ITimer? _deadline;
    private volatile bool _ending;
    private volatile bool _isFlushed;
    private volatile bool _isLeft;
    private EndCause? _cause;
    private long _receivedBytes;
    private long _sentBytes;

    /// <param name="wire">Owned.</param>
    /// <param name="pool">Where both pipes take their memory.</param>
    /// <param name="time">The clock.</param>
    /// <param name="settings">Its times; no other limit is one of bytes without frames.</param>
    public PipeConnection(Wire wire, BufferPool pool, TimeProvider time, ConnectionSettings settings)
    {
        _wire = wire;
        wire.Attach(this);
        _time = time;
        _settings = settings;
        _idle = new WaitLimit(time, settings.IdleTimeout, OnIdle);
        _stuck = new WaitLimit(time, settings.WriteTimeout, OnStalled);

        // The user's continuations run on the thread pool; ours run wherever the socket or the user's flush completes.
        _received = new Pipe(new PipeOptions(pool, PipeScheduler.ThreadPool, PipeScheduler.Inline, useSynchronizationContext: false));
        _toSend = new Pipe(new PipeOptions(pool, PipeScheduler.Inline, PipeScheduler.ThreadPool, useSynchronizationContext: false));

#pragma warning disable CS0618 // Other writers may not call it; that of a Pipe does, and a flush tells only when something comes, which may be never.
        _received.Writer.OnReaderCompleted(static (_, state) => ((TaskCompletionSource)state!).TrySetResult(), _unread);
#pragma warning restore CS0618
    }

    public PipeReader Input => _received.Reader;

    public PipeWriter Output => _toSend.Writer;

    public EndPoint? RemoteEndPoint { get; init; }

    public EndPoint? LocalEndPoint { get; init; }

    public X509Certificate2? RemoteCertificate => _wire.RemoteCertificate;

    public UpgradeHead? Request => _wire.Request;

    public long ReceivedBytes => Volatile.Read(ref _receivedBytes);

    public long SentBytes => Volatile.Read(ref _sentBytes);

    /// <summary>What ended it, or its reading side, first.</summary>
    public DisconnectReason EndReason => _cause?.Reason ?? DisconnectReason.Unknown;

    /// <summary>The same in words, where there are any.</summary>
    public string? EndDetail => _cause?.Detail;

    /// <summary>Completes when this side ends the connection without waiting: then not for its user either.</summary>
    public Task Abandoned => _abandoned.Task;

    /// <summary>The user reads, and may do so behind the end of our side.</summary>
    private bool IsRead => _wire.EndsByHalves && !_unread.Task.IsCompleted;

    /// <summary>Moves bytes until both directions are over, then closes the wire. The task never fails.</summary>
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

        NoteEnd(DisconnectReason.Local); // Nothing else has.
        Abort(resets: !flushed && !_isLeft);
        await receiving.ConfigureAwait(false);
        _idle.Dispose();
        _stuck.Dispose();
        _wire.Dispose();
    }

    /// <summary>It is, or comes of, what this connection told its user by Input or Output: of its own end, that is, and not of a fault of the user's.</summary>
    public bool HasNotified(Exception? exception)
    {
        while (exception is not null && !(NotifiedExceptions.TryGetValue(exception, out PipeConnection? whose) && ReferenceEquals(whose, this)))
        {
            exception = exception.InnerException;
        }

        return exception is not null;
    }

    /// <summary>Notes an exception that the user is going to be told with.</summary>
    public IOException Notify(IOException exception)
    {
        NotifiedExceptions.Add(exception, this);
        return exception;
    }

    /// <summary>Says what ends it, unless something has been said before.</summary>
    public void NoteEnd(DisconnectReason reason, string? detail = null) => Interlocked.CompareExchange(ref _cause, new EndCause(reason, detail), null);

    /// <summary>Ends the connection: in order, by completing what is sent (what was flushed is still written, within the linger time), or at once.</summary>
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

    /// <summary>The user has done with it: what is flushed is written within the linger time, and what comes is not read.</summary>
    public void LimitWriting()
    {
        NoteEnd(DisconnectReason.Local);
        LimitWriting(_settings.Linger);
        _unread.TrySetResult();
    }

    bool IWireEvents.IsBusy => false; // Its own loop reads at once.

    void IWireEvents.OnInput() => _input.Set();

    void IWireEvents.OnSent() => _sent.Set();

    void IWireEvents.OnEnded() => _ended.Set();

    private void LimitWriting(TimeSpan linger)
    {
        if (linger == Timeout.InfiniteTimeSpan || _isFlushed)
        {
            return;
        }

        // Without linger time: what is in the pipe is not dropped one by one, but a peer that does not read gets no more than any end of a connection.
        ITimer timer = _time.CreateTimer(static state => ((PipeConnection)state!).Abort(resets: false), this, linger > TimeSpan.Zero ? linger : _settings.CloseTimeout, Timeout.InfiniteTimeSpan);
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
            NoteEnd(DisconnectReason.Local); // Otherwise half of it goes on, and may yet end for another reason: it is lost, or falls silent.
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
            // Gone already, or the peer does not end its side in time: close anyway.
        }
    }

    /// <summary>Waits for what the peer has to do behind the end of our side: for as long as the user reads and there is more to come, and from there for the close timeout.</summary>
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
            failure = ExceptionToNotify(e); // Also whatever exception the user completed a pipe with: it comes back here, and ends the connection at once.
        }

        await writer.CompleteAsync(failure).ConfigureAwait(false);
    }

    /// <summary>Waits for input and reads once. False: the peer has ended.</summary>
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
                    NoteEnd(_isFlushed ? DisconnectReason.Local : DisconnectReason.Remote); // Behind our end it is the answer to that.
                    return false;
                default:
                    throw Lost();
            }
        }
    }

    /// <summary>Reads once. A wait may end for a report of the system that is older than our last read: a look at one byte tells, before a buffer is taken that would be held for as long as the peer is silent.</summary>
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
                writer.Write(one); // It came between the two looks.
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

    /// <summary>The user reads no more: what still comes is thrown away, because unread input would turn our close into a reset.</summary>
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
                // As ConnectionCloser: behind our end it is not read on until the close timeout, before that in a while.
                await Task.Delay(_isFlushed ? Timeout.InfiniteTimeSpan : Wire.DiscardPause, _time, _aborted.Token).ConfigureAwait(false);
                discarded = 0;
            }
        }
    }

    /// <summary>Writes what the user flushes. True if all of it was written and the user (or a close) ended it in order.</summary>
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
                bool isEmpty = result.Buffer.IsEmpty; // Asked now: the buffer is not ours any more after AdvanceTo.
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
                    reader.CancelPendingRead(); // The wish to close was used up by this read; the next one must not wait either.
                }
            }
        }
        catch (Exception e)
        {
            NoteEnd(DisconnectReason.Local);
            failure = ExceptionToNotify(e); // As above.
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
                if (_wire.BeginSend(_stuck.IsSet ? bytes[..Math.Min(bytes.Length, ConnectionWriter.MaxTimedSend)] : bytes, endsMidFrame: false))
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
            : Ended(); // What the wire says then comes of that.
    }

    private IOException Ended() => Notify(new IOException($"The connection was ended: {EndDetail ?? EndReason.Words()}."));

    /// <summary>The user has cancelled nothing: what ended a wait of ours is told as the end that it is.</summary>
    private Exception ExceptionToNotify(Exception exception) => exception is OperationCanceledException cancelled && cancelled.CancellationToken == _aborted.Token ? Ended() : exception;

    // Both look at the socket first: behind a pause of the whole process it is we who are late, and the timers come before the reports.
    private bool OnIdle()
    {
        if (Examines(SelectMode.SelectRead))
        {
            return true;
        }

        NoteEnd(DisconnectReason.IdleTimeout, $"nothing received for {_settings.IdleTimeout}");
        RequestClose(DisconnectReason.IdleTimeout, CloseMode.Orderly, _settings.CloseTimeout); // As a framed connection: nobody asked to wait for a peer that does not read either.
        return false;
    }

    private bool OnStalled()
    {
        if (Examines(SelectMode.SelectWrite))
        {
            return true;
        }

        NoteEnd(DisconnectReason.WriteTimeout, $"the peer took nothing for {_settings.WriteTimeout}");
        Abort(resets: true);
        return false;
    }

    private bool Examines(SelectMode what)
    {
        try
        {
            return _wire.Socket.Poll(TimeSpan.Zero, what);
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            return true; // What it is the wait hears, too.
        }
    }

    private void Abort(bool resets)
    {
        if (!resets)
        {
            _isLeft = true; // A write that waits fails at once when our side ends, and whoever it wakes lets go of the socket, too: perhaps before it knows that it was told of an end.
            _wire.AvoidReset();
        }

        if (!_aborted.IsCancellationRequested)
        {
            _aborted.Cancel();
        }

        _wire.Socket.Dispose(); // Ends what is pending.
    }

    private sealed record EndCause(DisconnectReason Reason, string? Detail);
}
