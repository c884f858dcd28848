namespace Net.Zlink.Engine;

internal interface IShardObserver
{
    void OnSlowRun(ShardLoop shard, string work, TimeSpan elapsed);

    void OnBlockedRun(ShardLoop shard, string work, TimeSpan elapsed);

    void OnLateRun(ShardLoop shard, TimeSpan delay);
}
