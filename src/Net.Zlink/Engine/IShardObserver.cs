namespace Net.Zlink.Engine;

/// <summary>Receives a shard's warnings. Must return at once and never throw.</summary>
internal interface IShardObserver
{
    void OnSlowRun(ShardLoop shard, string work, TimeSpan elapsed);

    void OnBlockedRun(ShardLoop shard, string work, TimeSpan elapsed);

    void OnLateRun(ShardLoop shard, TimeSpan delay);
}
