namespace Net.Zlink.Buffers;

/// <summary>
/// Counters of requests above the largest size class. Each was allocated exactly, and left to the garbage collector on return.
/// </summary>
public readonly struct OversizeStatistics
{
    /// <summary>Buffers rented so far.</summary>
    public long Rented { get; internal init; }

    /// <summary>Buffers returned so far.</summary>
    public long Returned { get; internal init; }

    /// <summary>Bytes of the buffers in use now.</summary>
    public long BytesRented { get; internal init; }

    /// <summary>Buffers in use now.</summary>
    public long Live => Rented - Returned;
}

internal sealed class OversizeCounter
{
    private long _rented;
    private long _returned;
    private long _bytesOut;

    internal byte[] Rent(int length)
    {
        byte[] array = PinnedArray.Allocate(length);
        Interlocked.Increment(ref _rented);
        Interlocked.Add(ref _bytesOut, length);
        return array;
    }

    internal void Return(int length)
    {
        Interlocked.Add(ref _bytesOut, -length);
        Interlocked.Increment(ref _returned);
    }

    // Returned first: a concurrent return must not make Live negative.
    internal OversizeStatistics Snapshot()
    {
        long returned = Interlocked.Read(ref _returned);
        return new OversizeStatistics
        {
            Rented = Interlocked.Read(ref _rented),
            Returned = returned,
            BytesRented = Interlocked.Read(ref _bytesOut),
        };
    }
}
