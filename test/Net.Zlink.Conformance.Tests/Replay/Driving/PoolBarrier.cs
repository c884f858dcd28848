using System.Diagnostics;
using System.Runtime.CompilerServices;

namespace Net.Zlink.Conformance.Tests.Replay.Driving;

/// <summary>A point that every thread of the pool passes: what any of them was at work on when it was asked for is done then. What that has
/// handed on to the pool is behind the next one, as a rule, so it is passed several times. Without inline completions.</summary>
/// <remarks>
/// Threads of the pool accept and dial, and over ws read from the kernel and decode, and give the outcome to a shard: while one of them is
/// at it the kernel's queues are empty and the shards idle. So the process has a fixed number of such threads, and as many works as
/// that are given to them which wait for each other: when they have met each thread had nothing else in hand.
/// </remarks>
internal static class PoolBarrier
{
    // Enough that what blocks a thread for a moment, in severed runs or the tests beside them, leaves some for the others; more only make a
    // barrier dearer.
    private static readonly int Threads = Math.Max(16, 2 * Environment.ProcessorCount);

    // A thread that another test keeps from coming; meanwhile those that wait for it are no use to anybody.
    private static readonly TimeSpan Patience = TimeSpan.FromMilliseconds(50);

    // Behind one that came to nothing, for all that waited for these threads meanwhile.
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(20);

    // How long others of the process may keep a thread.
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(10);

    private static readonly Lock Gate = new();
    private static Task s_last = Task.CompletedTask;
    private static Task? s_next;

    /// <summary>Before a thread of the pool is made that is one too many.</summary>
#pragma warning disable CA2255 // Not in a library that others use: a test's process, whose first test may be any of them.
    [ModuleInitializer]
#pragma warning restore CA2255
    internal static void FixThreads()
    {
        ThreadPool.GetMinThreads(out _, out int leastOfPorts);
        ThreadPool.GetMaxThreads(out _, out int mostOfPorts);
        if (!ThreadPool.SetMaxThreads(Threads, mostOfPorts) || !ThreadPool.SetMinThreads(Threads, leastOfPorts))
        {
            throw new InvalidOperationException($"the pool cannot be given {Threads} threads");
        }
    }

    /// <summary>Completes behind a barrier that is set up from now on; whoever asks before it is has the same one.</summary>
    public static Task PassAsync()
    {
        lock (Gate)
        {
            return s_next ??= HoldAsync(s_last);
        }
    }

    private static async Task HoldAsync(Task before)
    {
        await Task.Yield();
        await before.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        lock (Gate)
        {
            s_last = s_next!;
            s_next = null;
        }

        long start = Stopwatch.GetTimestamp();
        while (!await new Meeting().Over.Task)
        {
            if (Stopwatch.GetElapsedTime(start) > Limit)
            {
                throw new ReplayFailedException("the pool's threads never came to rest");
            }

            await Task.Delay(Pause);
        }
    }

    /// <summary>As many works as there are threads, each of which waits for all others.</summary>
    private sealed class Meeting : IThreadPoolWorkItem
    {
        private readonly ManualResetEventSlim _complete = new();
        private int _here;
        private int _gone;
        private bool _isMissed;

        public Meeting()
        {
            for (int i = 0; i < Threads; i++)
            {
                ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
            }
        }

        /// <summary>True: they have met. False: one of them was not there in time.</summary>
        public TaskCompletionSource<bool> Over { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public void Execute()
        {
            if (Interlocked.Increment(ref _here) == Threads)
            {
                _complete.Set(); // Where one has gone by now, all the same: nobody waits longer than it must.
            }

            if (!_complete.Wait(Patience))
            {
                Volatile.Write(ref _isMissed, true); // Its thread may take the next one's place.
            }

            if (Interlocked.Increment(ref _gone) == Threads)
            {
                _complete.Dispose();
                Over.SetResult(!Volatile.Read(ref _isMissed));
            }
        }
    }
}
