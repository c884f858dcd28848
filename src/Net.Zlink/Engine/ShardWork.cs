namespace Net.Zlink.Engine;

/// <summary>Something a shard can run: it sits in the shard's queue at most once, however often it is posted.</summary>
/// <remarks>
/// Posting ORs bits into <see cref="Pending"/>; the post that turns it from 0 enqueues. The shard takes all bits at once and passes them to <see cref="Run"/>.
/// So a burst of reasons to run costs one queue entry and no allocation.
/// </remarks>
internal abstract class ShardWork
{
    /// <summary>Reasons to run that have not been taken yet; non-zero exactly while this work is queued.</summary>
    internal int Pending;

    /// <summary>The link of the shard's intrusive queue.</summary>
    internal ShardWork? NextReady;

    /// <summary>Does the work. Called only by the owning shard, never concurrently.</summary>
    internal abstract void Run(int reasons);

    /// <summary>Called when <see cref="Run"/> threw: the work closes what it stands for; the shard goes on.</summary>
    internal abstract void OnFault(Exception exception);

    /// <summary>What a warning about a run that held the shard too long names.</summary>
    internal abstract string Describe();
}
