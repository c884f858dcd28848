using System.Runtime.CompilerServices;
using System.Security.Cryptography;
using Net.Zlink.Buffers;
using Net.Zlink.Flow;

namespace Net.Zlink.Transports.WebSocket;

/// <summary>
/// A stream that reads ahead, so that small reads of WebSocket frame headers cost no system call each. The HTTP heads of the upgrade are
/// read here as well, and the bytes after them stay in place. One reader and one writer at a time; asynchronous only.
/// </summary>
internal sealed class ReadAheadStream(Stream inner, BufferPool pool) : Stream
{
    // A frame header has up to 14 bytes, a small frame 100: this holds hundreds of them, and two TLS records.
    public const int BufferSize = 32 * 1024;

    // The first byte of an unfragmented CLOSE (RFC 6455, 5.2): FIN and opcode 8.
    private const byte CloseFrame = 0x88;

    // We send no unasked PONG, so each is an answer, written during a read.
    private const byte PongFrame = 0x8A;

    // An answer takes 5 us to write, as long as reading 2 KiB. Without this cost 6-byte PINGs could cause 20,000 answers a turn.
    private const int AnswerCost = 2 * 1024;

    // As servers send it. Clients add a mask (RFC 6455, 5.3).
    private static readonly byte[] s_ping = [0x89, 0x00];

    private static readonly object s_frame = new();

    private byte[]? _buffer;
    private int _start;
    private int _end;
    private ReadQuota _quota;
    private volatile bool _hasEndedWriting;
    private volatile bool _hasClosed;
    private bool _isReleased;
    private object? _writing; // s_frame, or the completion of a PING. The WebSocket orders its own frames only.

    public ReadOnlySpan<byte> Buffered => _buffer.AsSpan(_start, _end - _start);

    public bool HasEndedWriting => _hasEndedWriting;

    /// <summary>A CLOSE is the last frame (RFC 6455, 5.5.1): later writes are discarded.</summary>
    public bool HasClosed => _hasClosed;

    /// <summary>
    /// The socket's own stream, if that is directly below and its handshake is over: then an idle connection holds no buffer, even after a
    /// false report.
    /// </summary>
    public ReadinessStream? LowerStream { get; set; }

    public Func<bool>? IsOver { get; set; }

    /// <summary>The longest HTTP head. The buffer grows up to it with the bytes that come.</summary>
    public int LongestHead { get; set; } = BufferSize;

    public override bool CanRead => true;

    public override bool CanSeek => false;

    public override bool CanWrite => true;

    public override long Length => throw new NotSupportedException();

    public override long Position { get => throw new NotSupportedException(); set => throw new NotSupportedException(); }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    public async ValueTask<bool> FillAsync(CancellationToken cancellation)
    {
        int read;
        if (LowerStream is { } socket)
        {
            cancellation.ThrowIfCancellationRequested();
            Exception? failure;
            while (!TryFill(socket, out read, out failure))
            {
                _ = await socket.ReadAsync(Memory<byte>.Empty, cancellation).ConfigureAwait(false);
            }

            return failure is null ? read > 0 : throw failure;
        }

        read = await inner.ReadAsync(RemainingSpace(), cancellation).ConfigureAwait(false);
        _end += read;
        return read > 0;
    }

    public void Consume(int bytes)
    {
        _start += bytes;
        if (_start >= _end)
        {
            ReturnBuffer();
        }
    }

    /// <summary>
    /// Holds no buffer while nothing comes. On the pool with yields: a flood holds neither the caller, possibly a shard, nor a thread.
    /// </summary>
    public async Task DrainAsync(CancellationToken cancellation)
    {
        var quota = new ReadQuota();
        long drained = 0;
        await ThreadHop.ToBackOfPool;
        do
        {
            drained += Buffered.Length;
            quota.Consume(Buffered.Length);
            Consume(Buffered.Length);
            if (drained > Wire.MaxDiscarded)
            {
                break;
            }

            if (quota.TryEnd())
            {
                await ThreadHop.ToBackOfPool;
            }

            _ = await inner.ReadAsync(Memory<byte>.Empty, cancellation).ConfigureAwait(false);
        }
        while (await FillAsync(cancellation).ConfigureAwait(false));
        ReturnBuffer();
    }

    /// <summary>
    /// The WebSocket answers PINGs while it reads, and a failed answer would end the reads and so the connection, before the peer has read
    /// everything.
    /// </summary>
    public void EndWriting() => _hasEndedWriting = true;

    public void BeginTurn() => _quota.Begin();

    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        if (_quota.TryEnd())
        {
            return ReadQuota.ReadElsewhereAsync(this, buffer, cancellationToken);
        }

        if (_end > _start)
        {
            return new ValueTask<int>(ConsumeInto(buffer));
        }

        if (IsOver is { } isOver && isOver())
        {
            return default;
        }

        if (buffer.Length is 0 or >= BufferSize)
        {
            return inner.ReadAsync(buffer, cancellationToken);
        }

        return LowerStream is null || cancellationToken.IsCancellationRequested || !TryFill(LowerStream, out _, out Exception? failure)
            ? ReadBehindAsync(buffer, cancellationToken)
            : failure is null ? new ValueTask<int>(ConsumeInto(buffer))
            : ValueTask.FromException<int>(failure);
    }

    public override Task<int> ReadAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
        ReadAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

    public override ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
    {
        if (_hasEndedWriting || _hasClosed)
        {
            return default;
        }

        if (Interlocked.CompareExchange(ref _writing, s_frame, null) is TaskCompletionSource ping)
        {
            return WriteBehindAsync(ping.Task, buffer, cancellationToken);
        }

        _hasClosed = buffer.Span is [CloseFrame, ..];
        bool isAnswer = buffer.Span is [PongFrame, ..];
        if (isAnswer)
        {
            _quota.Consume(AnswerCost);
        }

        ValueTask write = inner.WriteAsync(buffer, cancellationToken);
        if (!write.IsCompletedSuccessfully)
        {
            return WriteUntilEndAsync(write, isAnswer);
        }

        Volatile.Write(ref _writing, null);
        return write;
    }

    /// <summary>Nothing is written while another frame is, or behind the last one.</summary>
    public async ValueTask PingAsync(bool isServer)
    {
        var done = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        if (_hasEndedWriting || Interlocked.CompareExchange(ref _writing, done, null) is not null)
        {
            return;
        }

        try
        {
            if (!_hasClosed)
            {
                byte[] frame = isServer ? s_ping : [s_ping[0], 0x80, .. RandomNumberGenerator.GetBytes(sizeof(uint))];
                await inner.WriteAsync(frame).ConfigureAwait(false);
            }
        }
        finally
        {
            Volatile.Write(ref _writing, null);
            done.SetResult();
        }
    }

    public override Task WriteAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
        inner.WriteAsync(buffer, offset, count, cancellationToken);

    public override Task FlushAsync(CancellationToken cancellationToken) => inner.FlushAsync(cancellationToken);

    public override void Flush() => throw new NotSupportedException();

    public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    public override void SetLength(long value) => throw new NotSupportedException();

    /// <summary>
    /// Dispose does not: the WebSocket disposes its stream after both CLOSEs, and the peer's end of TCP must still be awaited.
    /// </summary>
    public void Release()
    {
        if (!_isReleased)
        {
            _isReleased = true;
            inner.Dispose();
            ReturnBuffer();
        }
    }

    private Memory<byte> RemainingSpace()
    {
        _buffer ??= pool.RentArray(BufferSize);
        if (_end == _buffer.Length && _end < LongestHead)
        {
            byte[] larger = pool.RentArray(Math.Min(2 * _end, LongestHead));
            Buffered.CopyTo(larger);
            pool.ReturnArray(_buffer);
            (_buffer, _start, _end) = (larger, 0, _end - _start);
        }

        return _buffer.AsMemory(_end, Math.Min(_buffer.Length, LongestHead) - _end);
    }

    private bool TryFill(ReadinessStream socket, out int read, out Exception? failure)
    {
        bool isOver = socket.TryRead(RemainingSpace().Span, out read, out failure);
        _end += read;
        if (_end == _start)
        {
            ReturnBuffer();
        }

        return isOver;
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    private async ValueTask<int> ReadBehindAsync(Memory<byte> buffer, CancellationToken cancellation)
    {
        _ = await (LowerStream ?? inner).ReadAsync(Memory<byte>.Empty, cancellation).ConfigureAwait(false);
        await FillAsync(cancellation).ConfigureAwait(false);
        return ConsumeInto(buffer);
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
    private async ValueTask WriteUntilEndAsync(ValueTask write, bool isAnswer)
    {
        try
        {
            await write.ConfigureAwait(false);
        }
        catch (Exception e) when ((_hasEndedWriting || isAnswer) && IoStreamErrors.IsOfStream(e))
        {
            // Our end came first; or a read answers a peer that has left, and what that has sent before is still to be read.
        }
        finally
        {
            Volatile.Write(ref _writing, null);
        }
    }

    private async ValueTask WriteBehindAsync(Task ping, ReadOnlyMemory<byte> buffer, CancellationToken cancellation)
    {
        await ping.ConfigureAwait(false);
        await WriteAsync(buffer, cancellation).ConfigureAwait(false);
    }

    private int ConsumeInto(Memory<byte> buffer)
    {
        int taken = Math.Min(buffer.Length, _end - _start);
        _buffer.AsSpan(_start, taken).CopyTo(buffer.Span);
        _quota.Consume(taken);
        if (_buffer is not null)
        {
            Consume(taken);
        }

        return taken;
    }

    private void ReturnBuffer()
    {
        if (_buffer is not null)
        {
            pool.ReturnArray(_buffer);
            _buffer = null;
        }

        _start = _end = 0;
    }
}
