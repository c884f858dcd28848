using System.Buffers.Binary;
using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;

namespace Net.Zlink.Conformance.Tests.Replay.Played;

/// <summary>
/// Asks the Linux kernel for the queues of one TCP end on 127.0.0.1 (sock_diag over netlink). It takes microseconds, where reading
/// /proc/net/tcp walks
/// the kernel's whole table for some milliseconds: thousands of severed runs ask several times each.
/// </summary>
internal sealed partial class SocketDiagnostics : IDisposable
{
    private const int NetlinkFamily = 16;
    private const int SockDiagProtocol = 4;
    private const int RawCloseOnExec = 3 | 0x80000;
    private const ushort SockDiagByFamily = 20;
    private const ushort RequestFlag = 1;
    private const int MessageHeader = 16;
    private const int RequestSize = MessageHeader + 56;
    private const byte InterNetwork = 2;
    private const byte Tcp = 6;

    // Within the answer, behind the message header: family, state, two more bytes, the 48 bytes of the id, a timer, then the queues.
    private const int StateAt = MessageHeader + 1;
    private const int ReceiveQueueAt = MessageHeader + 4 + 48 + 4;
    private const int SendQueueAt = ReceiveQueueAt + 4;
    private const int InodeAt = SendQueueAt + 8;

    // Then attributes: length and type, 16 bits each, and the value. Asked for is struct tcp_info, by its bit.
    private const int AttributesAt = InodeAt + 4;
    private const int AttributeHeader = 4;
    private const byte InfoAttribute = 2;
    private const byte InfoBit = 1 << (InfoAttribute - 1);
    private const int BytesReceivedAt = 128;

    private readonly SafeFileHandle _socket;
    private readonly Lock _lock = new();

    private SocketDiagnostics(SafeFileHandle socket) => _socket = socket;

    /// <summary>Null where there is no such thing: not Linux, or not allowed.</summary>
    public static SocketDiagnostics? TryOpen()
    {
        if (!OperatingSystem.IsLinux())
        {
            return null;
        }

        var socket = new SafeFileHandle(Open(NetlinkFamily, RawCloseOnExec, SockDiagProtocol), ownsHandle: true);
        if (socket.IsInvalid)
        {
            socket.Dispose();
            return null;
        }

        return new SocketDiagnostics(socket);
    }

    /// <summary>The end at <paramref name="port"/> of the connection to <paramref name="otherPort"/> (0: the listener); null when it is
    /// gone.</summary>
    public TcpEnd? Find(int port, int otherPort)
    {
        Span<byte> request = stackalloc byte[RequestSize];
        request.Clear();
        BinaryPrimitives.WriteInt32LittleEndian(request, RequestSize);
        BinaryPrimitives.WriteUInt16LittleEndian(request[4..], SockDiagByFamily);
        BinaryPrimitives.WriteUInt16LittleEndian(request[6..], RequestFlag);
        Span<byte> body = request[MessageHeader..];
        body[0] = InterNetwork;
        body[1] = Tcp;
        body[2] = InfoBit;
        BinaryPrimitives.WriteUInt32LittleEndian(body[4..], uint.MaxValue); // Any state.
        Span<byte> id = body[8..];
        BinaryPrimitives.WriteUInt16BigEndian(id, (ushort)port);
        BinaryPrimitives.WriteUInt16BigEndian(id[2..], (ushort)otherPort);
        ReadOnlySpan<byte> loopback = [127, 0, 0, 1];
        loopback.CopyTo(id[4..]);
        if (otherPort != 0)
        {
            loopback.CopyTo(id[20..]);
        }

        id[40..48].Fill(0xFF); // No cookie: the ports say which.
        Span<byte> answer = stackalloc byte[1024];
        nint length;
        lock (_lock)
        {
            length = Send(_socket, request, request.Length, 0) == request.Length ? Receive(_socket, answer, answer.Length, 0) : -1;
        }

        if (length < InodeAt + 4 || BinaryPrimitives.ReadUInt16LittleEndian(answer[4..]) != SockDiagByFamily)
        {
            return null;
        }

        return new TcpEnd(
            (TcpState)answer[StateAt],
            BinaryPrimitives.ReadInt32LittleEndian(answer[ReceiveQueueAt..]),
            BinaryPrimitives.ReadInt32LittleEndian(answer[SendQueueAt..]),
            BinaryPrimitives.ReadUInt32LittleEndian(answer[InodeAt..]),
            ArrivedOf(answer[AttributesAt..(int)length]));
    }

    public void Dispose() => _socket.Dispose();

    /// <summary>tcpi_bytes_received, which counts a FIN too.</summary>
    private static long ArrivedOf(ReadOnlySpan<byte> attributes)
    {
        while (attributes.Length >= AttributeHeader)
        {
            int length = BinaryPrimitives.ReadUInt16LittleEndian(attributes);
            if (BinaryPrimitives.ReadUInt16LittleEndian(attributes[2..]) == InfoAttribute
                && length >= AttributeHeader + BytesReceivedAt + sizeof(long))
            {
                return BinaryPrimitives.ReadInt64LittleEndian(attributes[(AttributeHeader + BytesReceivedAt)..]);
            }

            attributes = attributes[Math.Min(attributes.Length, Math.Max(AttributeHeader, (length + 3) & ~3))..];
        }

        return long.MaxValue; // A kernel that does not say: older than 4.1.
    }

    [LibraryImport("libc", EntryPoint = "socket")]
    private static partial int Open(int family, int type, int protocol);

    [LibraryImport("libc", EntryPoint = "send", SetLastError = true)]
    private static partial nint Send(SafeFileHandle socket, ReadOnlySpan<byte> bytes, nint length, int flags);

    [LibraryImport("libc", EntryPoint = "recv", SetLastError = true)]
    private static partial nint Receive(SafeFileHandle socket, Span<byte> bytes, nint length, int flags);
}

/// <param name="State">The kernel's number of the state.</param>
/// <param name="Unread">Bytes (a FIN counts as one) that its program has not read; for a listener, connections not accepted.</param>
/// <param name="Unacknowledged">Bytes (and a FIN) that were sent and not yet acknowledged.</param>
/// <param name="Inode">Its number among the files; 0 when no program owns it, not yet or not any more.</param>
/// <param name="Arrived">Bytes (and a FIN) that have come so far, read or not.</param>
internal readonly record struct TcpEnd(TcpState State, int Unread, int Unacknowledged, uint Inode, long Arrived);

/// <summary>The Linux kernel's states of a TCP end.</summary>
internal enum TcpState
{
    Unknown = 0,
    Established = 1,
    SynSent = 2,
    SynReceived = 3,
    FinWait1 = 4,
    FinWait2 = 5,
    TimeWait = 6,
    Closed = 7,
    CloseWait = 8,
    LastAck = 9,
    Listen = 10,
    Closing = 11,
    NewSynReceived = 12,
}
