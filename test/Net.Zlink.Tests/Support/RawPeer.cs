using System.Buffers.Binary;
using System.Net;
using System.Net.Sockets;
using Xunit;

namespace Net.Zlink.Tests.Support;

/// <summary>The other end of a connection, as a plain socket that a test makes do anything: speak bytes, stop reading, half close,
/// reset.</summary>
internal sealed class RawPeer(Socket socket) : IDisposable
{
    public Socket Socket => socket;

    public string LocalAddress => $"tcp://{socket.LocalEndPoint}";

    /// <summary>Connects to an endpoint of the library.</summary>
    /// <param name="endpoint">As Bind returned it.</param>
    /// <param name="receiveBuffer">SO_RCVBUF, for a peer that is to be full soon; 0: the system's.</param>
    public static async Task<RawPeer> ConnectAsync(string endpoint, int receiveBuffer = 0)
    {
        EndPoint address = EndPointOf(endpoint);
        var socket = new Socket(address.AddressFamily, SocketType.Stream, ProtocolType.Unspecified);
        if (address is IPEndPoint)
        {
            socket.NoDelay = true;
        }

        if (receiveBuffer > 0)
        {
            socket.ReceiveBufferSize = receiveBuffer;
        }

        await socket.ConnectAsync(address, Guard.Token).Guarded();
        return new RawPeer(socket);
    }

    /// <summary>Of tcp or ipc.</summary>
    public static EndPoint EndPointOf(string endpoint)
    {
        const string Ipc = "ipc://";
        return endpoint.StartsWith(Ipc, StringComparison.Ordinal) ? new UnixDomainSocketEndPoint(endpoint[Ipc.Length..])
            : AddressOf(endpoint);
    }

    public static IPEndPoint AddressOf(string endpoint) => IPEndPoint.Parse(endpoint["tcp://".Length..]);

    public async Task SendAsync(ReadOnlyMemory<byte> bytes)
    {
        while (!bytes.IsEmpty)
        {
            int sent = await socket.SendAsync(bytes, SocketFlags.None, Guard.Token).Guarded();
            bytes = bytes[sent..];
        }
    }

    public Task SendFrameAsync(params byte[] payload) => SendAsync(Wire.Frame(payload));

    /// <summary>The next frame's payload, or null at the orderly end of the stream.</summary>
    public async Task<byte[]?> ReadFrameAsync()
    {
        byte[] header = await ReadAsync(Wire.HeaderSize);
        if (header.Length == 0)
        {
            return null;
        }

        Assert.Equal(Wire.HeaderSize, header.Length);
        int length = (int)BinaryPrimitives.ReadUInt32BigEndian(header);
        byte[] payload = await ReadAsync(length);
        Assert.Equal(length, payload.Length);
        return payload;
    }

    /// <summary>Sends frames, reading meanwhile, and sees each come back, whole and in order.</summary>
    public async Task AssertEchoedAsync(byte[][] payloads)
    {
        Task sending = SendAsync(Wire.Frames(payloads));
        foreach (byte[] payload in payloads)
        {
            Wire.AssertSame(payload, (await ReadFrameAsync())!);
        }

        await sending;
    }

    /// <summary>Reads so many bytes, or fewer if the stream ends first.</summary>
    public async Task<byte[]> ReadAsync(int count)
    {
        byte[] bytes = new byte[count];
        int have = 0;
        while (have < count)
        {
            int received = await socket.ReceiveAsync(bytes.AsMemory(have), SocketFlags.None, Guard.Token).Guarded();
            if (received == 0)
            {
                break;
            }

            have += received;
        }

        return have == count ? bytes : bytes[..have];
    }

    /// <summary>Everything up to the orderly end of the stream; a reset throws.</summary>
    /// <param name="chunk">Bytes asked for at a time: a small number makes a slow reader.</param>
    public async Task<byte[]> ReadToEndAsync(int chunk = 64 * 1024)
    {
        using var all = new MemoryStream();
        byte[] some = new byte[chunk];
        while (true)
        {
            int received = await socket.ReceiveAsync(some, SocketFlags.None, Guard.Token).Guarded();
            if (received == 0)
            {
                return all.ToArray();
            }

            all.Write(some, 0, received);
        }
    }

    /// <summary>Waits for the connection's end, orderly or not, throwing away what still comes.</summary>
    public async Task ReadToAnyEndAsync()
    {
        try
        {
            await ReadToEndAsync();
        }
        catch (SocketException)
        {
            // A reset is an end too.
        }
    }

    /// <summary>Ends our side in order; the other side can still send.</summary>
    public void EndSending() => socket.Shutdown(SocketShutdown.Send);

    /// <summary>Breaks the connection: the other side gets a reset. Idempotent.</summary>
    public void Reset()
    {
        if (!socket.SafeHandle.IsClosed)
        {
            socket.LingerState = new LingerOption(enable: true, seconds: 0);
            socket.Dispose();
        }
    }

    public void Dispose() => socket.Dispose();
}
