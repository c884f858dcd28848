using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using System.Threading.Tasks.Sources;

namespace Net.Zlink.Engine;

/// <summary>
/// The only place in the library where a thread blocks, never on a shard. A pool thread blocks in Task.Wait, because the pool then injects
/// threads: with 16 of them in Monitor.Wait a completion came 13.5 s late.
/// </summary>
internal static class BlockingWait
{
    [ThreadStatic]
    private static Signal? t_signal;

    public static void ThrowIfOnShard(string instead)
    {
        if (ShardLoop.Current is not null)
        {
            throw new InvalidOperationException(
                $"This call would block a shard, and with it the work that it waits for. In a handler use {instead} " +
                "and return the incomplete ValueTask, or make the call in Task.Run.");
        }
    }

    /// <summary>Binds <paramref name="waiter"/> to the calling thread, before it is added to a list.</summary>
    /// <remarks>A waiter that completes before it has a continuation would run it on the thread pool, which may be starved.</remarks>
    public static void Arm<T>(Waiter<T> waiter)
    {
        Signal signal = t_signal ??= new Signal();
        signal.Arm();
        waiter.OnCompleted(static state => ((Signal)state!).Set(), signal, waiter.Version, ValueTaskSourceOnCompletedFlags.None);
    }

    /// <summary>Blocks until <paramref name="waiter"/> completes, which <see cref="Arm"/> has bound to this thread.</summary>
    public static bool Until<T>(Waiter<T> waiter, IWaiterList list, TimeSpan timeout)
    {
        Signal signal = t_signal!;
        try
        {
            if (signal.Wait(timeout))
            {
                return true;
            }

            if (list.TryRemove(waiter))
            {
                return false;
            }
        }
        catch (ThreadInterruptedException) when (!list.TryRemove(waiter))
        {
            // A message given to a waiter without a thread would be lost, and the payload that it lends would be reused.
            signal.Wait(Timeout.InfiniteTimeSpan);
            Thread.CurrentThread.Interrupt();
            return true;
        }

        // Another thread has just removed the waiter and is about to complete it.
        signal.Wait(Timeout.InfiniteTimeSpan);
        return true;
    }

    private sealed class Signal
    {
        private bool _isSet;
        private TaskCompletionSource? _task;

        public void Arm()
        {
            _isSet = false;
            _task = Thread.CurrentThread.IsThreadPoolThread ? new TaskCompletionSource() : null;
        }

        public void Set()
        {
            if (_task is { } task)
            {
                task.TrySetResult();
                return;
            }

            lock (this)
            {
                _isSet = true;
                Monitor.Pulse(this);
            }
        }

        public bool Wait(TimeSpan timeout)
        {
            long started = Stopwatch.GetTimestamp();
            TimeSpan left = timeout;
            while (!WaitOnce(left))
            {
                left = timeout - Stopwatch.GetElapsedTime(started);
                if (left <= TimeSpan.Zero)
                {
                    return false;
                }
            }

            return true;
        }

        /// <summary>By the runtime's coarse clock it may end some milliseconds early.</summary>
        [SuppressMessage("ApiDesign", "RS0030", Justification = "The one blocking wait: Task.Wait tells the pool that the thread blocks.")]
        private bool WaitOnce(TimeSpan timeout)
        {
            if (_task is { } task)
            {
                return task.Task.Wait(timeout);
            }

            lock (this)
            {
                if (!_isSet)
                {
                    Monitor.Wait(this, timeout);
                }

                return _isSet;
            }
        }
    }
}
