using Net.Zlink.Engine;

namespace Net.Zlink.Sockets.Links;

/// <summary>
/// The unread bytes of all lanes of a socket. While they are at the limit no peer is read, not even one without unread messages: so their
/// number bounds nothing. Lanes count under their own locks, as PausedReaders does.
/// </summary>
internal sealed class TotalByteLimit : IReadLimit
{
    private readonly long _limit;
    private long _bytes;

    private TotalByteLimit(long limit)
    {
        _limit = limit;
        PausedReaders = new PausedReaders(this);
    }

    public PausedReaders PausedReaders { get; }

    /// <summary>A reader waits that may read. The barrier of <see cref="Remove"/> pairs with the one of the reader's addition.</summary>
    public bool CanResume => PausedReaders.Count > 0 && MayRead();

    public long FreeReads => Math.Max(1, (_limit - Volatile.Read(ref _bytes)) / ReceiveSlab.ReadSize);

    public static TotalByteLimit? Of(long limit) => limit == 0 ? null : new TotalByteLimit(limit);

    public bool MayRead() => Volatile.Read(ref _bytes) < _limit;

    public void Add(long bytes) => Interlocked.Add(ref _bytes, bytes);

    public void Remove(long bytes)
    {
        if (bytes > 0)
        {
            Interlocked.Add(ref _bytes, -bytes);
        }
    }
}
