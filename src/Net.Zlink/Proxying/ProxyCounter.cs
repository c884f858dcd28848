namespace Net.Zlink;

internal sealed class ProxyCounter
{
    private long _messages;
    private long _parts;
    private long _bytes;

    public ProxyTraffic Traffic => new()
    {
        Messages = Volatile.Read(ref _messages),
        Parts = Volatile.Read(ref _parts),
        Bytes = Volatile.Read(ref _bytes),
    };

    public void Add(int parts, long bytes)
    {
        Volatile.Write(ref _messages, _messages + 1);
        Volatile.Write(ref _parts, _parts + parts);
        Volatile.Write(ref _bytes, _bytes + bytes);
    }
}
