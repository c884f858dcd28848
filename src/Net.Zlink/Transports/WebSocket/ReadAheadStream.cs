using System.Runtime.CompilerServices;
using Net.Zlink.Buffers;

namespace Net.Zlink.Transports.WebSocket;

/// <summary>A stream that reads more than it is asked for, so that the small reads of a WebSocket's frame headers cost no system call each;
/// holds a buffer only while something is in it.</summary>
/// <remarks>Also where the HTTP heads of the upgrade are read from, with whatever comes behind them left in place. One reader and one
/// writer at a time; asynchronous only.</remarks>
internal sealed class ReadAheadStream(Stream inner, BufferPool pool) : Stream
{
    // A frame header has up to 14 bytes and a small frame 100; so much holds hundreds of them, and is two TLS records.
    private const int BufferSize = 32 * 1024;

    // The first byte of an unfragmented CLOSE (RFC 6455, 5.2): FIN, and the opcode 8.
    private const byte CloseFrame = 0x88;

    // That of an unfragmented PONG. We ask for none and send none unasked, so each is an answer, written in the course of a read.
    private const byte PongFrame = 0x8A;

    // What a read's turn has less with each answer: one takes 5 us to write, and as long as 2 KiB of other frames that mean nothing take to
    // read. A PING of 6 bytes would otherwise buy it 20,000 times a turn.
    private const int AnswerCost = 2 * 1024;

    private byte[]? _buffer;
    private int _start;
    private int _end;
    private ReadQuota _quota;
    private volatile bool _hasEndedWriting; // Set by who writes, asked by who reads and answers a PING.
    private volatile bool _hasClosed; // Set by the WebSocket, which writes one frame at a time.
    private bool _isReleased;

    /// <summary>What was read and not yet taken.</summary>
    public ReadOnlySpan<byte> Buffered => _buffer.AsSpan(_start, _end - _start);

    /// <summary><see cref="EndWriting"/> was called.</summary>
    public bool HasEndedWriting => _hasEndedWriting;

    /// <summary>
    /// A CLOSE was written, ours or the library's own for a fault of the peer's. It is the last frame (RFC 6455, 5.5.1): what was waiting
    /// for its turn to be written meanwhile, data or the answer to a PING, is nothing any more.
    /// </summary>
    public bool HasClosed => _hasClosed;

    /// <summary>The socket's own stream, where that is what lies beneath and its handshake is over: then no buffer is held while it has
    /// nothing, however false a report was. Null: not so, or not yet.</summary>
    public ReadinessStream? Beneath { get; set; }

    /// <summary>Asked before each read that would go to the stream beneath: true ends the reads, as if the peer had ended its side. Null:
    /// never.</summary>
    public Func<bool>? IsOver { get; set; }

    /// <inheritdoc/>
    public override bool CanRead => true;

    /// <inheritdoc/>
    public override bool CanSeek => false;

    /// <inheritdoc/>
    public override bool CanWrite => true;

    /// <inheritdoc/>
    public override long Length => throw new NotSupportedException();

    /// <inheritdoc/>
    public override long Position { get => throw new NotSupportedException(); set => throw new NotSupportedException(); }

    /// <summary>Reads once, behind what is buffered. False: the peer has ended, or nothing more fits.</summary>
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    public async ValueTask<bool> FillAsync(CancellationToken cancellation)
    {
        int read;
        if (Beneath is { } socket)
        {
            cancellation.ThrowIfCancellationRequested();
            Exception? failure;
            while (!TryFill(socket, out read, out failure))
            {
                await socket.ReadAsync(Memory<byte>.Empty, cancellation).ConfigureAwait(false);
            }

            return failure is null ? read > 0 : throw failure;
        }

        read = await inner.ReadAsync(RemainingSpace(), cancellation).ConfigureAwait(false);
        _end += read;
        return read > 0;
    }

    /// <summary>Takes bytes from the front of <see cref="Buffered"/>.</summary>
    public void Consume(int bytes)
    {
        _start += bytes;
        if (_start >= _end)
        {
            ReturnBuffer();
        }
    }

    /// <summary>Reads up to the peer's end and throws it away, but no more than <see cref="Wire.MaxDiscarded"/>; holds no buffer while
    /// nothing comes. On the pool, and behind what waits there again and again: a flood holds neither the caller, which may be a shard, nor
    /// a thread.</summary>
    public async Task DrainAsync(CancellationToken cancellation)
    {
        var quota = new ReadQuota();
        long drained = 0;
        await Task.CompletedTask.ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
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
                await Task.CompletedTask.ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
            }

            await inner.ReadAsync(Memory<byte>.Empty, cancellation).ConfigureAwait(false);
        }
        while (await FillAsync(cancellation).ConfigureAwait(false));
        ReturnBuffer();
    }

    /// <summary>
    /// Our side is about to end: what is still written comes to nothing, and is no failure. The WebSocket answers PINGs within its reads as
    /// long as it reads, and a failed answer would end the reads, hence the connection, in which the peer may not have got everything yet.
    /// </summary>
    public void EndWriting() => _hasEndedWriting = true;

    /// <summary>A read of the engine's begins.</summary>
    public void BeginTurn() => _quota.Begin();

    /// <inheritdoc/>
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

        return Beneath is null || cancellationToken.IsCancellationRequested || !TryFill(Beneath, out _, out Exception? failure)
            ? ReadBehindAsync(buffer, cancellationToken)
            : failure is null ? new ValueTask<int>(ConsumeInto(buffer))
            : ValueTask.FromException<int>(failure);
    }

    /// <inheritdoc/>
    public override Task<int> ReadAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
        ReadAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

    /// <inheritdoc/>
    public override ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
    {
        if (_hasEndedWriting || _hasClosed)
        {
            return default;
        }

        _hasClosed = buffer.Span is [CloseFrame, ..]; // A frame is one write; a head of HTTP begins with a letter.
        if (buffer.Span is [PongFrame, ..])
        {
            _quota.Consume(AnswerCost);
        }

        ValueTask write = inner.WriteAsync(buffer, cancellationToken);
        return write.IsCompletedSuccessfully ? write : WriteUntilEndAsync(write);
    }

    /// <inheritdoc/>
    public override Task WriteAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
        inner.WriteAsync(buffer, offset, count, cancellationToken);

    /// <inheritdoc/>
    public override Task FlushAsync(CancellationToken cancellationToken) => inner.FlushAsync(cancellationToken);

    /// <inheritdoc/>
    public override void Flush() => throw new NotSupportedException();

    /// <inheritdoc/>
    public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    /// <inheritdoc/>
    public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    /// <inheritdoc/>
    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    /// <inheritdoc/>
    public override void SetLength(long value) => throw new NotSupportedException();

    /// <summary>Lets go of the stream beneath. Disposal does not: the WebSocket disposes of its stream as soon as both sides have said
    /// CLOSE, and then the peer's end of TCP is still to be waited for.</summary>
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
        return _buffer.AsMemory(_end, Math.Min(_buffer.Length, BufferSize) - _end);
    }

    /// <summary>Reads what is there already. False: there is nothing, and nothing has ended.</summary>
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
        // The wait is for as long as the peer likes: without a buffer.
        await (Beneath ?? inner).ReadAsync(Memory<byte>.Empty, cancellation).ConfigureAwait(false);
        await FillAsync(cancellation).ConfigureAwait(false);
        return ConsumeInto(buffer);
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
    private async ValueTask WriteUntilEndAsync(ValueTask write)
    {
        try
        {
            await write.ConfigureAwait(false);
        }
        catch (Exception e) when (_hasEndedWriting && IoStreamErrors.IsOfStream(e))
        {
            // Our end has overtaken it.
        }
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
