using System.Buffers.Binary;

namespace Net.Zlink.Porting;

/// <summary>A received message in the native shape.</summary>
public readonly struct NativeStreamMessage
{
    /// <summary>The peer's id: 4 bytes, big endian.</summary>
    public byte[] Id { get; init; }

    /// <summary>The payload. The single byte 01 is a connect, 00 a disconnect; a peer's own payload may look the same.</summary>
    public byte[] Payload { get; init; }
}

/// <summary>
/// A <see cref="StreamSocket"/> in the native shape, [id, payload], for ported code (docs/protocol.md section 3). Only this view treats the
/// payload 00 as "close that peer".
/// </summary>
/// <remarks>
/// Only <see cref="ReceiveAsync"/> waits: where a native send would block, it fails with <see cref="ZlinkError.Again"/>. One thread at a
/// time; each view has its own send state. It allocates; new code uses the socket.
/// </remarks>
public sealed class NativeStreamView
{
    private const byte Closed = 0x00;
    private const byte Opened = 0x01;
    private const int IdLength = sizeof(uint);

    private readonly StreamSocket _socket;
    private uint _target;
    private bool _hasTarget;

    /// <summary>Makes a view with its own send state.</summary>
    /// <param name="socket">The socket. The view does not own it.</param>
    /// <exception cref="ArgumentNullException"><paramref name="socket"/> is null.</exception>
    public NativeStreamView(StreamSocket socket)
    {
        ArgumentNullException.ThrowIfNull(socket);
        _socket = socket;
    }

    /// <summary>Sends one part: an id part with more to follow, then a payload part.</summary>
    /// <param name="part">The bytes. As a payload, the single byte 00 disconnects the peer.</param>
    /// <param name="more">More parts follow. An id part without it is dropped; on a payload part it is ignored.</param>
    /// <exception cref="ZlinkException">
    /// InvalidArgument: the id has not 4 bytes. With the payload part, HostUnreachable: the peer is unknown; Again: it is at its
    /// high-water mark or a byte limit. The next part is then an id part. ContextTerminated.
    /// </exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    public void SendPart(ReadOnlySpan<byte> part, bool more)
    {
        if (_hasTarget)
        {
            _hasTarget = false;
            SendPayload(part);
        }
        else if (more)
        {
            _target = part.Length == IdLength ? BinaryPrimitives.ReadUInt32BigEndian(part)
                : throw new ZlinkException(ZlinkError.InvalidArgument, $"a peer's id has {IdLength} bytes, this one {part.Length}");
            _hasTarget = true;
        }
    }

    /// <summary>Takes the next message, if there is one.</summary>
    /// <param name="message">A copy of the message.</param>
    /// <returns>False if there is none now.</returns>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public bool TryReceive(out NativeStreamMessage message)
    {
        if (_socket.TryReceive(out StreamMessage received))
        {
            message = Convert(received);
            return true;
        }

        message = default;
        return false;
    }

    /// <summary>Waits for the next message.</summary>
    /// <param name="cancellationToken">Cancels the wait. No message is lost.</param>
    /// <returns>A copy of the message.</returns>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public async ValueTask<NativeStreamMessage> ReceiveAsync(CancellationToken cancellationToken = default) =>
        Convert(await _socket.ReceiveAsync(cancellationToken).ConfigureAwait(false));

    private static NativeStreamMessage Convert(StreamMessage message)
    {
        using (message)
        {
            byte[] id = new byte[IdLength];
            BinaryPrimitives.WriteUInt32BigEndian(id, message.PeerId);
            byte[] payload = message.Kind switch
            {
                StreamMessageKind.Connected => [Opened],
                StreamMessageKind.Disconnected => [Closed],
                _ => message.Span.ToArray(),
            };
            return new NativeStreamMessage { Id = id, Payload = payload };
        }
    }

    private void SendPayload(ReadOnlySpan<byte> payload)
    {
        if (payload is [Closed] && _socket.Disconnect(_target))
        {
            return;
        }

        try
        {
            _socket.To(_target).Send(payload, TimeSpan.Zero); // Of a peer that cannot be disconnected it says why.
        }
        catch (TimeoutException full)
        {
            throw new ZlinkException(ZlinkError.Again, full.Message, full);
        }
    }
}
