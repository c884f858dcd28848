using System.Buffers.Binary;
using Net.Zlink.Engine;
using Net.Zlink.Sockets;

namespace Net.Zlink.Porting;

/// <summary>A received message in the native shape.</summary>
/// <param name="Id">The peer's id: 4 bytes, big endian.</param>
/// <param name="Payload">The payload. The single byte 01 is a connect, 00 a disconnect; a peer's own payload may look the same.</param>
public readonly record struct NativeStreamMessage(byte[] Id, byte[] Payload);

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

    internal NativeStreamView(StreamSocket socket) => _socket = socket;

    /// <summary>Sends one part: an id part with more to follow, then a payload part.</summary>
    /// <param name="part">The bytes. As a payload, the single byte 00 disconnects the peer.</param>
    /// <param name="more">More parts follow. An id part without it is dropped; on a payload part it is ignored.</param>
    /// <exception cref="ZlinkException">
    /// InvalidArgument: the id has not 4 bytes. HostUnreachable: the peer is unknown. Again: it is at its high-water mark or a byte limit.
    /// The next part is then an id part. ContextTerminated.
    /// </exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    public void SendPart(ReadOnlySpan<byte> part, bool more)
    {
        _socket.ThrowIfEnded();
        try
        {
            if (_hasTarget)
            {
                _hasTarget = false;
                SendPayload(part);
            }
            else if (more)
            {
                _target = TargetOf(part);
                _hasTarget = true;
            }
        }
        catch (TimeoutException full)
        {
            throw new ZlinkException(ZlinkError.Again, full.Message, full);
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
            return new NativeStreamMessage(id, payload);
        }
    }

    private uint TargetOf(ReadOnlySpan<byte> part)
    {
        if (part.Length != IdLength)
        {
            throw new ZlinkException(ZlinkError.InvalidArgument, $"a peer's id has {IdLength} bytes, this one {part.Length}");
        }

        uint id = BinaryPrimitives.ReadUInt32BigEndian(part);
        if (!_socket.Hub.TryFind(id, out StreamLink link))
        {
            StreamSender.ThrowUnlessAccepted(SendStatus.Closed, id);
        }

        if (link.Connection is { } connection)
        {
            StreamSender.ThrowUnlessAccepted(connection.Outbound.Status, id);
        }

        return id;
    }

    private void SendPayload(ReadOnlySpan<byte> payload)
    {
        if (payload is [Closed])
        {
            _socket.Disconnect(_target);
            return;
        }

        _socket.Send(_target, payload, TimeSpan.Zero);
    }
}
