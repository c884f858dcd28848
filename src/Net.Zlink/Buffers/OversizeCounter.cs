namespace Net.Zlink.Buffers;

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
