using Xunit;

namespace Net.Zlink.Tests.Support;

/// <summary>Every wait of a test has a limit, so that a hang is a failure with a stack and not a stuck run.</summary>
internal static class Guard
{
    // 100 times what the slowest wait takes on an idle machine; two busy cores need some of that.
    public static readonly TimeSpan Limit = TimeSpan.FromSeconds(20);

    private const int LooksWithoutPause = 1000; // About a millisecond.

    /// <summary>Cancelled when the run is.</summary>
    public static CancellationToken Token => TestContext.Current.CancellationToken;

    public static Task Guarded(this Task task) => task.WaitAsync(Limit, Token);

    public static Task<T> Guarded<T>(this Task<T> task) => task.WaitAsync(Limit, Token);

    public static Task Guarded(this ValueTask task) => task.AsTask().WaitAsync(Limit, Token);

    public static Task<T> Guarded<T>(this ValueTask<T> task) => task.AsTask().WaitAsync(Limit, Token);

    /// <summary>Waits for something long, for as long as it goes on: a load that takes a second on an idle machine takes a minute on a busy
    /// one.</summary>
    /// <param name="task">What is waited for.</param>
    /// <param name="progress">A number that changes with every step of it.</param>
    public static async Task WhileItGoesOn(this Task task, Func<long> progress)
    {
        long last = -1;
        while (true)
        {
            try
            {
                await task.WaitAsync(Limit, Token);
                return;
            }
            catch (TimeoutException) when (!task.IsCompleted && progress() != last)
            {
                last = progress();
            }
        }
    }

    /// <summary>Waits for what the library counts but does not announce. The first looks follow each other at once; then there is a
    /// millisecond between two, since a loop without a pause takes a processor from what it waits for.</summary>
    /// <param name="condition">What has to be so.</param>
    /// <param name="what">The same in words, for the failure.</param>
    /// <param name="limit">Another limit than <see cref="Limit"/>.</param>
    public static async Task UntilAsync(Func<bool> condition, string what, TimeSpan? limit = null)
    {
        TimeSpan patience = limit ?? Limit;
        long started = TimeProvider.System.GetTimestamp();
        for (int look = 0; !condition(); look++)
        {
            Assert.True(TimeProvider.System.GetElapsedTime(started) < patience, $"not within {patience}: {what}");
            if (look < LooksWithoutPause)
            {
                await Task.Yield();
            }
            else
            {
                await Task.Delay(1, Token);
            }
        }
    }

    /// <summary>Joins a thread of the test's own.</summary>
    public static void JoinGuarded(this Thread thread) => Assert.True(thread.Join(Limit), "the test's thread did not end");
}
