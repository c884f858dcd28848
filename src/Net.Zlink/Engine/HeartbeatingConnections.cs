namespace Net.Zlink.Engine;

/// <summary>Counts the connections of a context that send heartbeats only if nothing comes in. Any thread.</summary>
internal sealed class HeartbeatingConnections
{
    private int _count;

    public int Count => Volatile.Read(ref _count);

    public void Add(int change) => Interlocked.Add(ref _count, change);
}
