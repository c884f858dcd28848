using System.Buffers.Binary;
using System.Net;
using System.Net.Sockets;
using Xunit;

namespace Net.Zlink.Samples.Tests;

/// <summary>A plain socket that speaks the STREAM wire: a 32-bit big-endian length, then that many bytes.</summary>
internal sealed class WireClient : IDisposable
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    private readonly Socket _socket;

    private WireClient(Socket socket) => _socket = socket;

    public static async Task<WireClient> ConnectAsync(IPEndPoint endPoint)
    {
        var socket = new Socket(endPoint.AddressFamily, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        CancellationToken cancellation = TestContext.Current.CancellationToken;
        await socket.ConnectAsync(endPoint, cancellation).AsTask().WaitAsync(Patience, cancellation);
        return new WireClient(socket);
    }

    public static byte[] Frame(byte[] payload)
    {
        byte[] frame = new byte[4 + payload.Length];
        BinaryPrimitives.WriteUInt32BigEndian(frame, (uint)payload.Length);
        payload.CopyTo(frame, 4);
        return frame;
    }

    public Task SendAsync(byte[] payload) => SendRawAsync(Frame(payload));

    public async Task SendRawAsync(ReadOnlyMemory<byte> bytes)
    {
        while (!bytes.IsEmpty)
        {
            int sent = await _socket.SendAsync(bytes, TestContext.Current.CancellationToken).AsTask()
                .WaitAsync(Patience, TestContext.Current.CancellationToken);
            bytes = bytes[sent..];
        }
    }

    /// <summary>The next payload; null when the server closed the connection in order instead.</summary>
    public async Task<byte[]?> ReceiveAsync()
    {
        byte[]? prefix = await ReceiveExactlyAsync(4);
        return prefix is null ? null : await ReceiveExactlyAsync((int)BinaryPrimitives.ReadUInt32BigEndian(prefix));
    }

    /// <summary>True when the connection is over without another byte, in order or by a reset.</summary>
    public async Task<bool> IsClosedAsync()
    {
        try
        {
            return await ReceiveExactlyAsync(1) is null;
        }
        catch (SocketException exception) when (exception.SocketErrorCode == SocketError.ConnectionReset)
        {
            return true;
        }
    }

    public void Dispose() => _socket.Dispose();

    private async Task<byte[]?> ReceiveExactlyAsync(int length)
    {
        byte[] bytes = new byte[length];
        for (int done = 0; done < length;)
        {
            int received = await _socket.ReceiveAsync(bytes.AsMemory(done), TestContext.Current.CancellationToken).AsTask()
                .WaitAsync(Patience, TestContext.Current.CancellationToken);
            if (received == 0)
            {
                Assert.Equal(0, done); // an end in the middle of a frame is never right
                return null;
            }

            done += received;
        }

        return bytes;
    }
}
