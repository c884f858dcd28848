namespace Net.Zlink.Buffers;

internal sealed class RetainedBytes(long limit)
{
    private readonly long _half = limit / 2;
    private long _free = limit;

    internal int Reserve(int wanted, int size, bool forCaches)
    {
        long free = Volatile.Read(ref _free);
        while (true)
        {
            // A division takes 10 ns, so only near the limit.
            long usable = forCaches ? free - _half : free;
            int granted = (long)wanted * size <= usable ? wanted : (int)(usable / size);
            if (granted <= 0)
            {
                return 0;
            }

            long seen = Interlocked.CompareExchange(ref _free, free - ((long)granted * size), free);
            if (seen == free)
            {
                return granted;
            }

            free = seen;
        }
    }

    internal void Release(int count, int size) => Interlocked.Add(ref _free, (long)count * size);
}
