using System.Net;
using System.Net.Sockets;
using System.Security.Cryptography;

namespace Net.Zlink.Scenarios.Attacks;

/// <summary>A client that writes its own bytes, from an address of its own.</summary>
internal sealed class RawDealer : IDisposable
{
    private const int IdSize = 8;
    private const int BlockSize = 64 * 1024;

    private readonly TcpClient _client;
    private readonly NetworkStream _stream;

    /// <param name="endpoint">A tcp endpoint.</param>
    /// <param name="from">An address of this machine.</param>
    public RawDealer(string endpoint, string from = "127.0.0.1")
    {
        var to = new Uri(endpoint);
        _client = new TcpClient(new IPEndPoint(IPAddress.Parse(from), 0)) { NoDelay = true };
        _client.Connect(to.Host, to.Port);
        _stream = _client.GetStream();
        _stream.Write([0x5A, 1, 2, 0, 0, 0, 0, 3 + IdSize, 1, 5, IdSize, .. RandomNumberGenerator.GetBytes(IdSize),
            0x5A, 1, 2, 0, 0, 0, 0, 1, 4]);
        _ = DiscardAsync(_stream);
    }

    /// <summary>False: the other side has ended the connection.</summary>
    public bool TrySend(params byte[][] parts)
    {
        try
        {
            _stream.Write([.. parts.SelectMany((part, at) => Frame(part, isLast: at == parts.Length - 1))]);
            return true;
        }
        catch (IOException)
        {
            return false;
        }
    }

    public void Dispose() => _client.Dispose();

    private static byte[] Frame(byte[] part, bool isLast) =>
    [
        0x5A, 1, (byte)(isLast ? 0 : 1), 0, (byte)(part.Length >> 24), (byte)(part.Length >> 16), (byte)(part.Length >> 8),
        (byte)part.Length, .. part,
    ];

    private static async Task DiscardAsync(NetworkStream stream)
    {
        byte[] buffer = new byte[BlockSize];
        try
        {
            while (await stream.ReadAsync(buffer) > 0)
            {
                // Answers that nobody wants.
            }
        }
        catch (Exception e) when (e is IOException or ObjectDisposedException)
        {
            // Closed.
        }
    }
}
