using System.Net;
using System.Net.Sockets;
using System.Security.Cryptography;

namespace Net.Zlink.Scenarios.Attacks;

/// <summary>A client that writes its own bytes, from an address of its own.</summary>
internal sealed class RawClient : IDisposable
{
    public const byte Dealer = 5;
    public const byte Sub = 2;

    private const int IdSize = 8;
    private const byte SubscribeFlag = 8;
    private const int BlockSize = 64 * 1024;

    private readonly TcpClient _client;
    private readonly NetworkStream _stream;
    private long _received;

    /// <param name="endpoint">A tcp endpoint.</param>
    /// <param name="from">An address of this machine.</param>
    /// <param name="type">What socket it says it is.</param>
    public RawClient(string endpoint, string from = "127.0.0.1", byte type = Dealer)
    {
        var to = new Uri(endpoint);
        _client = new TcpClient(new IPEndPoint(IPAddress.Parse(from), 0)) { NoDelay = true };
        _client.Connect(to.Host, to.Port);
        _stream = _client.GetStream();
        _stream.Write([0x5A, 1, 2, 0, 0, 0, 0, 3 + IdSize, 1, type, IdSize, .. RandomNumberGenerator.GetBytes(IdSize),
            0x5A, 1, 2, 0, 0, 0, 0, 1, 4]);
        _ = DiscardAsync();
    }

    /// <summary>Bytes of the other side.</summary>
    public long Received => Interlocked.Read(ref _received);

    /// <summary>False: the other side has ended the connection.</summary>
    public bool TrySend(params byte[][] parts) =>
        TryWrite([.. parts.SelectMany((part, at) => Frame(part, flags: (byte)(at == parts.Length - 1 ? 0 : 1)))]);

    /// <summary>False: the other side has ended the connection.</summary>
    public bool TrySubscribe(byte[] topic) => TryWrite(Frame(topic, SubscribeFlag));

    public void Dispose() => _client.Dispose();

    private bool TryWrite(byte[] bytes)
    {
        try
        {
            _stream.Write(bytes);
            return true;
        }
        catch (IOException)
        {
            return false;
        }
    }

    private static byte[] Frame(byte[] part, byte flags) =>
    [
        0x5A, 1, flags, 0, (byte)(part.Length >> 24), (byte)(part.Length >> 16), (byte)(part.Length >> 8),
        (byte)part.Length, .. part,
    ];

    private async Task DiscardAsync()
    {
        byte[] buffer = new byte[BlockSize];
        try
        {
            while (await _stream.ReadAsync(buffer) is > 0 and int read)
            {
                Interlocked.Add(ref _received, read);
            }
        }
        catch (Exception e) when (e is IOException or ObjectDisposedException)
        {
            // Closed.
        }
    }
}
