namespace Net.Zlink.Services;

/// <summary>What one queue of received messages has reserved of its context's QueuedByteLimit, in steps, so that a queue that fills and
/// empties seldom reserves. Guarded by the lock of the queue.</summary>
/// <param name="context">Null: there is no such limit.</param>
internal sealed class QueuedByteShare(ZlinkContext? context)
{
    private const long FreeBytes = 64 * 1024;
    private const long Step = 256 * 1024;

    private long _reserved;

    /// <returns>False: the context has less left.</returns>
    public bool TryCover(long bytes)
    {
        long missing = bytes - FreeBytes - _reserved;
        if (missing <= 0 || context is null)
        {
            return true;
        }

        long step = Math.Max(missing, Step);
        if (!context.TryReserveQueuedBytes(step))
        {
            step = missing;
            if (!context.TryReserveQueuedBytes(step))
            {
                return false;
            }
        }

        _reserved += step;
        return true;
    }

    /// <summary>The queue holds no more than that now.</summary>
    public void Shrink(long bytes)
    {
        if (_reserved > 0 && (bytes == 0 || FreeBytes + _reserved - bytes > 2 * Step))
        {
            long kept = Math.Max(0, Math.Min(_reserved, bytes + Step - FreeBytes));
            kept = bytes == 0 ? 0 : kept;
            context!.ReleaseQueuedBytes(_reserved - kept);
            _reserved = kept;
        }
    }
}
