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

    internal abstract void OnFault(Exception exception);

    internal abstract string Describe();
}
