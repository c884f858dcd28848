namespace Net.Zlink.Engine;

/// <summary>
/// The unread bytes of all lanes of a socket. While they are at the limit no peer is read, not even one without unread messages: so their
/// number bounds nothing. Lanes count under their own locks, as <see cref="PausedReaders"/> does.
/// </summary>
internal sealed class SocketQuota
{
    private readonly long _limit;
    private long _bytes;

    private SocketQuota(long limit)
    {
        _limit = limit;
        PausedReaders = new PausedReaders(() => MayRead ? Math.Max(1, (_limit - Volatile.Read(ref _bytes)) / ReceiveSlab.ReadSize) : 0);
    }

    public PausedReaders PausedReaders { get; }

    /// <summary>A reader waits that may read. The barrier of <see cref="Add"/> pairs with the one of the reader's addition.</summary>
    public bool CanResume => PausedReaders.Count > 0 && MayRead;

    public bool MayRead => Volatile.Read(ref _bytes) < _limit;

    public static SocketQuota? Of(long limit) => limit == 0 ? null : new SocketQuota(limit);

    public void Add(long bytes)
    {
        if (bytes != 0)
        {
            Interlocked.Add(ref _bytes, bytes);
        }
    }
}
