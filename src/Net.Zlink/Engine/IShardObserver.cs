namespace Net.Zlink.Engine;

/// <summary>Receives a shard's warnings, on the shard unless stated otherwise. Must return at once and never throw.</summary>
internal interface IShardObserver
{
    /// <summary>A work item ran longer than 50 ms while every connection of the shard waited.</summary>
    void OnSlowRun(ShardLoop shard, string work, TimeSpan elapsed);

    /// <summary>A work item has run for at least a second and still runs. Once per item, on the watchdog's timer.</summary>
    void OnBlockedRun(ShardLoop shard, string work, TimeSpan elapsed);

    /// <summary>The thread pool started this shard more than 200 ms late.</summary>
    void OnLateRun(ShardLoop shard, TimeSpan delay);
}
