namespace Net.Zlink.Flow;

/// <summary>A wait with a limit that is no failure.</summary>
internal static class TaskEnd
{
    /// <summary>Waits for a task, and for at most a time.</summary>
    /// <param name="task">The task.</param>
    /// <param name="limit">How long; <see cref="Timeout.InfiniteTimeSpan"/> for as long as it takes.</param>
    /// <param name="time">The clock.</param>
    /// <returns>Whether the task is over. What it failed with is thrown.</returns>
    public static async Task<bool> EndsWithinAsync(this Task task, TimeSpan limit, TimeProvider time)
    {
        try
        {
            await task.WaitAsync(limit, time).ConfigureAwait(false);
            return true;
        }
        catch (TimeoutException)
        {
            return task.IsCompleted;
        }
    }
}
