namespace Net.Zlink.Services;

/// <summary>What one queue counts in the context's QueuedByteLimit, in steps. Guarded by the lock of the queue.</summary>
/// <param name="context">Null: there is no such limit.</param>
internal sealed class QueueReservation(ZlinkContext? context)
{
    // What is kept without the context, so that a queue that fills and empties seldom reserves.
    private const long FreeBytes = 64 * 1024;
    private const long Step = 256 * 1024;

    private long _reserved;

    /// <summary>The queue is about to hold so many bytes.</summary>
    /// <returns>False: the context has no more.</returns>
    public bool TryCover(long bytes)
    {
        long missing = bytes - FreeBytes - _reserved;
        if (missing <= 0 || context is null)
        {
            return true;
        }

        long wanted = Math.Max(missing, Step);
        if (!context.TryReserveQueuedBytes(wanted) && !context.TryReserveQueuedBytes(wanted = missing))
        {
            return false;
        }

        _reserved += wanted;
        return true;
    }

    /// <summary>The queue holds so many bytes: the rest is given back, in steps, too.</summary>
    public void Shrink(long bytes)
    {
        long kept = bytes == 0 ? 0 : Math.Max(0, bytes - FreeBytes) + (2 * Step);
        if (_reserved > kept)
        {
            context!.ReleaseQueuedBytes(_reserved - kept);
            _reserved = kept;
        }
    }
}
