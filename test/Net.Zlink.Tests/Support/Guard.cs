using Xunit;

namespace Net.Zlink.Tests.Support;

/// <summary>Every wait of a test has a limit, so that a hang is a failure with a stack and not a stuck run.</summary>
internal static class Guard
{
    // 100 times what the slowest wait takes on an idle machine; two busy cores need some of that.
    public static readonly TimeSpan Limit = TimeSpan.FromSeconds(20);

    /// <summary>Cancelled when the run is.</summary>
    public static CancellationToken Token => TestContext.Current.CancellationToken;

    public static Task Guarded(this Task task) => task.WaitAsync(Limit, Token);

    public static Task<T> Guarded<T>(this Task<T> task) => task.WaitAsync(Limit, Token);

    public static Task Guarded(this ValueTask task) => task.AsTask().WaitAsync(Limit, Token);

    public static Task<T> Guarded<T>(this ValueTask<T> task) => task.AsTask().WaitAsync(Limit, Token);

    /// <summary>Joins a thread of the test's own.</summary>
    public static void JoinGuarded(this Thread thread) => Assert.True(thread.Join(Limit), "the test's thread did not end");
}
