namespace Net.Zlink.Engine;

/// <summary>Work for a shard, in the shard's queue at most once, however often it is posted.</summary>
/// <remarks>
/// A post sets bits in <see cref="Pending"/>; the post that finds 0 enqueues. The shard passes all bits to <see cref="Run"/> at once, so
/// posts allocate nothing.
/// </remarks>
internal abstract class ShardWork
{
    /// <summary>Non-zero exactly while this work is queued.</summary>
    internal int Pending;

    internal ShardWork? NextReady;

    internal abstract void Run(int reasons);

    /// <summary><see cref="Run"/> threw: close what the work is for. The shard continues.</summary>
    internal abstract void OnFault(Exception exception);

    internal abstract string Describe();
}
