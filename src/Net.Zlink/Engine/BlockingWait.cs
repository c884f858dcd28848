using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using System.Threading.Tasks.Sources;
using Net.Zlink.Flow;

namespace Net.Zlink.Engine;

/// <summary>Lets a calling thread block until a wait ends: the only place in the library where a thread blocks.</summary>
/// <remarks>
/// On a thread-pool thread it blocks in Task.Wait, because the pool then injects threads: socket completions need the pool, and with 16 pool
/// threads in Monitor.Wait a completion was measured 13.5 s late. That one Task is the only allocation a blocking call makes. Elsewhere it waits
/// on a monitor, which allocates nothing. Never called on a shard.
/// </remarks>
internal static class BlockingWait
{
    // Monitor.Wait and Task.Wait take at most int.MaxValue milliseconds, 24.8 days: longer timeouts are waited for in steps.
    private static readonly TimeSpan LongestStep = TimeSpan.FromMilliseconds(int.MaxValue);

    [ThreadStatic]
    private static Signal? t_signal;

    /// <summary>Refuses to block a shard.</summary>
    /// <exception cref="InvalidOperationException">The calling thread runs a shard.</exception>
    public static void ThrowIfOnShard(string instead)
    {
        if (ShardLoop.Current is not null)
        {
            throw new InvalidOperationException($"This call would block a shard, and with it what it waits for: from a handler use {instead} and return the incomplete ValueTask, or make the call in Task.Run.");
        }
    }

    /// <summary>
    /// Ties <paramref name="waiter"/> to the calling thread, before it stands in a list: a waiter that was complete before it had a continuation would run
    /// it on the thread pool, which may be the very thing that is starved.
    /// </summary>
    public static void Arm<T>(Waiter<T> waiter)
    {
        Signal signal = t_signal ??= new Signal();
        signal.Arm();
        waiter.OnCompleted(static state => ((Signal)state!).Set(), signal, waiter.Version, ValueTaskSourceOnCompletedFlags.None);
    }

    /// <summary>Blocks until <paramref name="waiter"/> is complete, whatever the outcome.</summary>
    /// <param name="waiter">The last wait that this thread prepared as blocking.</param>
    /// <param name="list">The list that the wait stands in: on a timeout it is taken out of it.</param>
    /// <param name="timeout">How long to block; <see cref="Timeout.InfiniteTimeSpan"/> for as long as it takes.</param>
    /// <returns>False if the time passed first; the wait is then over and must not be used again.</returns>
    /// <exception cref="ThreadInterruptedException">The thread was interrupted first; the wait is over.</exception>
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
        catch (ThreadInterruptedException)
        {
            // The list must not keep a waiter whose thread has left: a message given to it would be lost, a payload it lends would be gone.
            if (list.TryRemove(waiter))
            {
                throw;
            }

            signal.WaitUninterrupted();
            Thread.CurrentThread.Interrupt(); // For the next wait of this thread: this one has its result.
            return true;
        }

        // Somebody took it out a moment ago and is about to complete it.
        signal.WaitUninterrupted();
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

            // On somebody else's thread, whose interruption is nothing to the one that waits.
            bool interrupted = Uninterrupted.Enter(this);
            _isSet = true;
            Monitor.Pulse(this);
            Monitor.Exit(this);
            Uninterrupted.AskAgain(interrupted);
        }

        public bool Wait(TimeSpan timeout)
        {
            long started = Stopwatch.GetTimestamp();
            TimeSpan left = timeout;
            while (true)
            {
                bool endless = timeout == Timeout.InfiniteTimeSpan;
                TimeSpan step = endless ? timeout : left < LongestStep ? left : LongestStep;
                if (_task is { } task ? OnPoolThread(task.Task, step) : OnOwnThread(step))
                {
                    return true;
                }

                left = timeout - Stopwatch.GetElapsedTime(started);
                if (left <= TimeSpan.Zero && !endless)
                {
                    return false;
                }
            }
        }

        public void WaitUninterrupted()
        {
            bool interrupted = false;
            while (true)
            {
                try
                {
                    Wait(Timeout.InfiniteTimeSpan);
                    break;
                }
                catch (ThreadInterruptedException)
                {
                    interrupted = true;
                }
            }

            Uninterrupted.AskAgain(interrupted);
        }

        [SuppressMessage("ApiDesign", "RS0030", Justification = "The one blocking wait: Task.Wait tells the pool that this thread is gone.")]
        private static bool OnPoolThread(Task task, TimeSpan step) => task.Wait(step);

        /// <summary>True once it is set; false if the time passed first, or for no reason.</summary>
        private bool OnOwnThread(TimeSpan step)
        {
            lock (this)
            {
                if (!_isSet)
                {
                    Monitor.Wait(this, step);
                }

                return _isSet;
            }
        }
    }
}
