namespace Net.Zlink.Engine;

/// <summary>
/// Work for a shard, in the shard's queue at most once, however often it is posted. A post sets bits in <see cref="Pending"/>; the post
/// that finds 0 enqueues.
/// </summary>
internal abstract class ShardWork
{
    internal int Pending;

    internal ShardWork? NextReady;

    internal abstract void Run(int reasons);

    /// <summary>By default the code that <see cref="Run"/> called observes the exception, and the shard continues.</summary>
    internal virtual void OnFault(Exception exception)
    {
    }

    internal abstract string Describe();
}

/// <summary>Posted once. What it throws is in the task.</summary>
internal sealed class ShardTask(Action action) : ShardWork
{
    public Task Task { get; } = new(action, TaskCreationOptions.RunContinuationsAsynchronously);

    internal override void Run(int reasons) => Task.RunSynchronously(TaskScheduler.Default);

    internal override string Describe() => "a task of the context";
}
