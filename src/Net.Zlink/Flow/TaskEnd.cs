namespace Net.Zlink.Flow;

internal static class TaskEnd
{
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
