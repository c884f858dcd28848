using System.Buffers;
using System.Buffers.Binary;
using System.Net.WebSockets;
using System.Runtime.CompilerServices;

namespace Net.Zlink.AspNetCore;

/// <summary>
/// The bytes of a STREAM connection over a WebSocket whose messages are frames without a length. A message is gathered before its length is
/// known; a frame that is sent is not.
/// </summary>
internal sealed class WebSocketFrames(WebSocket webSocket, WebSocketEnd end, long longestFrame) : WebSocketBytes(webSocket, end)
{
    private const int HeaderSize = sizeof(uint);
    private const int FirstSize = 1024;

    private readonly byte[] _header = new byte[HeaderSize];
    private readonly WebSocketEnd _end = end;
    private int _headerBytes;
    private uint _left;
    private byte[]? _message;
    private int _start;
    private int _length;

    /// <summary>Of no bytes: a message is there, or the end. An idle connection holds no buffer.</summary>
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        if (_message is null && !await GatherAsync(cancellationToken).ConfigureAwait(false))
        {
            return 0;
        }

        int taken = Math.Min(buffer.Length, _length - _start);
        _message.AsSpan(_start, taken).CopyTo(buffer.Span);
        _start += taken;
        if (_start == _length)
        {
            ArrayPool<byte>.Shared.Return(_message!);
            _message = null;
        }

        return taken;
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
    public override async ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
    {
        while (!buffer.IsEmpty)
        {
            if (_left == 0)
            {
                int header = Math.Min(HeaderSize - _headerBytes, buffer.Length);
                buffer.Span[..header].CopyTo(_header.AsSpan(_headerBytes));
                _headerBytes += header;
                buffer = buffer[header..];
                if (_headerBytes < HeaderSize)
                {
                    return;
                }

                _headerBytes = 0;
                _left = BinaryPrimitives.ReadUInt32BigEndian(_header);
                if (_left == 0)
                {
                    await SendAsync(ReadOnlyMemory<byte>.Empty, endsMessage: true, cancellationToken).ConfigureAwait(false);
                }

                continue;
            }

            ReadOnlyMemory<byte> part = buffer[..(int)Math.Min(_left, (uint)buffer.Length)];
            buffer = buffer[part.Length..];
            _left -= (uint)part.Length;
            await SendAsync(part, endsMessage: _left == 0, cancellationToken).ConfigureAwait(false);
        }
    }

    /// <summary>The buffer grows by what has come. The socket refuses a frame that is too long by its length, so the rest is not
    /// read.</summary>
    private async ValueTask<bool> GatherAsync(CancellationToken cancellation)
    {
        Memory<byte> space = default;
        int received = 0;
        while (true)
        {
            if (await ReceiveAsync(space, cancellation).ConfigureAwait(false) is not { } part)
            {
                return false;
            }

            received += part.Count;
            _end.IsTooBig = received > longestFrame;
            _message = WithSpace(_message, HeaderSize + received);
            if (part.EndOfMessage || _end.IsTooBig)
            {
                break;
            }

            space = _message.AsMemory(HeaderSize + received);
        }

        BinaryPrimitives.WriteInt32BigEndian(_message, received);
        (_start, _length) = (0, HeaderSize + received);
        return true;
    }

    private static byte[] WithSpace(byte[]? message, int used)
    {
        if (message is null || used == message.Length)
        {
            byte[] larger = ArrayPool<byte>.Shared.Rent((int)Math.Clamp(2L * used, FirstSize, Array.MaxLength));
            message.AsSpan(0, message is null ? 0 : used).CopyTo(larger);
            if (message is not null)
            {
                ArrayPool<byte>.Shared.Return(message);
            }

            return larger;
        }

        return message;
    }
}
