using System.Diagnostics;
using Xunit;

namespace Net.Zlink.Interop.Tests.Support;

/// <summary>Every wait of a test has a limit, so that a hang is a failure with a stack and not a stuck run.</summary>
internal static class Limits
{
    // 100 times what the slowest wait takes on an idle machine; two busy cores need some of that.
    public static readonly TimeSpan Wait = TimeSpan.FromSeconds(20);

    /// <summary>How long to look for what must not come. It was waited for behind something that did come, so this only has to cover its
    /// own way.</summary>
    public static readonly TimeSpan Nothing = TimeSpan.FromMilliseconds(200);

    // Between two tries of something that no event announces.
    private static readonly TimeSpan Slice = TimeSpan.FromMilliseconds(5);

    public static CancellationToken Token => TestContext.Current.CancellationToken;

    public static Task Guarded(this Task task) => task.WaitAsync(Wait, Token);

    public static Task<T> Guarded<T>(this Task<T> task) => task.WaitAsync(Wait, Token);

    /// <summary>Tries again until it is so. Each try waits for the slice it is given, on something that can happen.</summary>
    public static void Until(string what, Func<TimeSpan, bool> tryOnce)
    {
        long start = Stopwatch.GetTimestamp();
        while (!tryOnce(Slice))
        {
            Token.ThrowIfCancellationRequested();
            Assert.True(Stopwatch.GetElapsedTime(start) < Wait, $"not within {Wait}: {what}");
        }
    }

    /// <summary>The same for what says nothing when it changes: it is looked at after each slice.</summary>
    public static void Until(string what, Func<bool> isSo) => Assert.True(HappensWithin(Wait, isSo), $"not within {Wait}: {what}");

    /// <summary>Whether it becomes so within that time, which is looked at all along.</summary>
    public static bool HappensWithin(TimeSpan time, Func<bool> isSo)
    {
        long start = Stopwatch.GetTimestamp();
        while (!isSo())
        {
            Token.ThrowIfCancellationRequested();
            if (Stopwatch.GetElapsedTime(start) > time)
            {
                return false;
            }

            Token.WaitHandle.WaitOne(Slice);
        }

        return true;
    }

    /// <summary>Runs work that blocks on a thread of its own.</summary>
    public static Task OnThread(Action work) => Task.Factory.StartNew(work, Token, TaskCreationOptions.LongRunning, TaskScheduler.Default);
}
