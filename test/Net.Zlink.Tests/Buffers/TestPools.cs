using Net.Zlink.Buffers;

namespace Net.Zlink.Tests.Buffers;

/// <summary>Pools with one policy for all classes, of which only those above <see cref="LargestWarmed"/> warm nothing, and short ways to
/// look at one class.</summary>
internal static class TestPools
{
    /// <summary>The larger ones together have 52 MB: too much to make anew in each test.</summary>
    public const int LargestWarmed = 901_120;

    /// <summary>Those that are warmed.</summary>
    public static IEnumerable<int> WarmedSizes => BufferPool.ClassSizes.ToArray().Where(static size => size <= LargestWarmed);

    public static BufferPoolOptions Options(
        int warm = 0, int keep = 1_000, TimeSpan? idle = null, TimeProvider? time = null, bool leakCheck = false, long? retained = null) =>
        new()
        {
            RetainedByteLimit = retained,
            ClassPolicies = BufferPoolOptions.PerClass(
                size => new BufferClassPolicy
                {
                    WarmCount = size <= LargestWarmed ? warm : 0,
                    KeepLimit = keep,
                    TrimAfterIdle = idle ?? Timeout.InfiniteTimeSpan,
                }),
            TimeProvider = time ?? TimeProvider.System,
            LeakCheck = leakCheck,
        };

    public static BufferPool Create(
        int warm = 0, int keep = 1_000, TimeSpan? idle = null, TimeProvider? time = null, bool leakCheck = false) =>
        new(Options(warm, keep, idle, time, leakCheck));

    public static IEnumerable<BufferClassStatistics> WarmedClasses(this BufferPool pool) =>
        pool.GetStatistics().Classes.Where(static one => one.Size <= LargestWarmed);

    public static BufferClassStatistics ClassOf(this BufferPool pool, int size) =>
        pool.GetStatistics().Classes.Single(one => one.Size == size);

    /// <summary>From now on only so many allocations succeed of those that have at least a size.</summary>
    public static void AllocateOnly(this BufferPool pool, int count, int from = 0) => pool.Allocating = size =>
    {
        if (size >= from && Interlocked.Decrement(ref count) < 0)
        {
#pragma warning disable MA0012 // It is the runtime's own that is played here.
            throw new OutOfMemoryException();
#pragma warning restore MA0012
        }
    };

    public static byte[][] RentMany(this BufferPool pool, int size, int count)
    {
        var rented = new byte[count][];
        for (int index = 0; index < count; index++)
        {
            rented[index] = pool.RentArray(size);
        }

        return rented;
    }

    public static void ReturnAll(this BufferPool pool, IEnumerable<byte[]> rented)
    {
        foreach (byte[] array in rented)
        {
            pool.ReturnArray(array);
        }
    }

    /// <summary>Runs on a thread of its own, which has ended when this returns; rethrows what it threw.</summary>
    public static void OnNewThread(Action action) => OnNewThreads(1, _ => action());

    /// <summary>Runs on several threads at once, which have ended when this returns; rethrows what they threw.</summary>
    public static void OnNewThreads(int count, Action<int> action)
    {
        var failures = new Exception?[count];
        var threads = new Thread[count];
        for (int index = 0; index < count; index++)
        {
            int own = index;
            threads[own] = new Thread(() =>
            {
                try
                {
                    action(own);
                }
                catch (Exception failure)
                {
                    failures[own] = failure;
                }
            })
            { IsBackground = true };
            threads[own].Start();
        }

        foreach (Thread thread in threads)
        {
            if (!thread.Join(TimeSpan.FromSeconds(120)))
            {
                throw new TimeoutException("A thread of the test did not end within 120 seconds.");
            }
        }

        if (failures.Any(static failure => failure is not null))
        {
            throw new AggregateException("A thread of the test failed.", failures.OfType<Exception>());
        }
    }

    /// <summary>Collects until the condition holds: finalizers and what they made unreachable may need several rounds.</summary>
    public static bool CollectUntil(Func<bool> condition)
    {
        for (int round = 0; round < 20; round++)
        {
            if (condition())
            {
                return true;
            }

            GC.Collect();
            GC.WaitForPendingFinalizers();
        }

        return condition();
    }
}
