namespace Net.Zlink.Engine;

/// <summary>Hears what a shard notices about itself. Called on the shard, but for what says otherwise: returns at once and never throws.</summary>
internal interface IShardObserver
{
    /// <summary>One work held its shard longer than 50 ms: a handler blocks, and every connection of the shard waited.</summary>
    void OnSlowRun(ShardLoop shard, string work, TimeSpan elapsed);

    /// <summary>One work has held its shard for a second or longer, and still does. Called once for each such work, on the watchdog's timer.</summary>
    void OnBlockedRun(ShardLoop shard, string work, TimeSpan elapsed);

    /// <summary>The thread pool started this shard more than 200 ms after it was asked to.</summary>
    void OnLateRun(ShardLoop shard, TimeSpan delay);
}
