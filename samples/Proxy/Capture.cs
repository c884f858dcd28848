using Net.Zlink;

namespace ProxySample;

/// <summary>Sees a copy of every message that the proxy passes on, and counts them: where a logger or a recorder would be.</summary>
internal sealed class Capture : IDisposable
{
    private readonly PairSocket _reader;
    private readonly Task<long> _counting;

    public Capture(ZlinkContext context)
    {
        Socket = context.CreatePair();
        _reader = context.CreatePair();
        _reader.Connect(Socket.Bind("inproc://capture"));
        _counting = CountAllAsync();
    }

    /// <summary>What the proxy writes to.</summary>
    public PairSocket Socket { get; }

    /// <summary>How many there were. Call it when the proxy has ended: it sends the mark that ends the count behind what the proxy
    /// sent.</summary>
    public async Task<long> CountAsync()
    {
        await Socket.SendAsync(ReadOnlyMemory<byte>.Empty);
        return await _counting;
    }

    public void Dispose()
    {
        Socket.Dispose();
        _reader.Dispose();
    }

    private async Task<long> CountAllAsync()
    {
        for (long count = 0; ; count++)
        {
            using Message message = await _reader.ReceiveAsync();
            if (message.PartCount == 1)
            {
                return count; // What the proxy passes on has two parts, a client's id and a body.
            }
        }
    }
}
