using System.Runtime.CompilerServices;
using System.Security.Cryptography;
using Net.Zlink.Buffers;

namespace Net.Zlink.Transports.WebSocket;

/// <summary>
/// What a WebSocket's library reads from and writes to. The HTTP heads of the upgrade are read here as well, and the bytes after them stay.
/// Knows the frames that are written. One reader and one writer at a time; asynchronous only.
/// </summary>
internal sealed class FrameStream(Stream stream, WireStream inner, BufferPool pool) : Stream
{
    private const int FirstSize = 4 * 1024;

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
    private volatile bool _hasEndedWriting;
    private volatile bool _hasClosed;
    private bool _isReleased;
    private object? _writing; // s_frame, or the completion of a PING. The WebSocket orders its own frames only.

    public ReadOnlySpan<byte> Buffered => _buffer.AsSpan(_start, _end - _start);

    public bool HasEndedWriting => _hasEndedWriting;

    /// <summary>A CLOSE is the last frame (RFC 6455, 5.5.1): later writes are discarded.</summary>
    public bool HasClosed => _hasClosed;

    public WireStream Inner => inner;

    public Func<bool>? IsOver { get; set; }

    /// <summary>The longest HTTP head. The buffer grows up to it with the bytes that come.</summary>
    public int LongestHead { get; init; } = FirstSize;

    public override bool CanRead => true;

    public override bool CanSeek => false;

    public override bool CanWrite => true;

    public override long Length => throw new NotSupportedException();

    public override long Position { get => throw new NotSupportedException(); set => throw new NotSupportedException(); }

    /// <summary>Reads more of a head. False: the peer has ended.</summary>
    public async ValueTask<bool> FillAsync(CancellationToken cancellation)
    {
        int read = await stream.ReadAsync(RemainingSpace(), cancellation).ConfigureAwait(false);
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
    /// The WebSocket answers PINGs while it reads, and a failed answer would end the reads and so the connection, before the peer has read
    /// everything.
    /// </summary>
    public void EndWriting() => _hasEndedWriting = true;

    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        if (inner.IsTurnOver)
        {
            return ReadInNextTurnAsync(buffer, cancellationToken);
        }

        if (_end > _start)
        {
            int taken = Math.Min(buffer.Length, _end - _start);
            Buffered[..taken].CopyTo(buffer.Span);
            inner.ChargeTurn(taken);
            Consume(taken);
            return new ValueTask<int>(taken);
        }

        return IsOver is { } isOver && isOver() ? default : stream.ReadAsync(buffer, cancellationToken);
    }

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
            inner.ChargeTurn(AnswerCost);
        }

        ValueTask write = stream.WriteAsync(buffer, cancellationToken);
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
                await stream.WriteAsync(frame).ConfigureAwait(false);
            }
        }
        finally
        {
            Volatile.Write(ref _writing, null);
            done.SetResult();
        }
    }

    public override Task FlushAsync(CancellationToken cancellationToken) => stream.FlushAsync(cancellationToken);

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
            stream.Dispose();
            ReturnBuffer();
        }
    }

    private Memory<byte> RemainingSpace()
    {
        _buffer ??= pool.RentArray(Math.Min(FirstSize, LongestHead));
        if (_end == _buffer.Length && _end < LongestHead)
        {
            byte[] larger = pool.RentArray(Math.Min(2 * _end, LongestHead));
            Buffered.CopyTo(larger);
            pool.ReturnArray(_buffer);
            (_buffer, _start, _end) = (larger, 0, _end - _start);
        }

        return _buffer.AsMemory(_end, Math.Min(_buffer.Length, LongestHead) - _end);
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    private async ValueTask<int> ReadInNextTurnAsync(Memory<byte> buffer, CancellationToken cancellation)
    {
        await inner.WaitForTurn().ConfigureAwait(false);
        return await ReadAsync(buffer, cancellation).ConfigureAwait(false);
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
