using Net.Zlink.Engine;

namespace Net.Zlink.Tests.Support;

/// <summary>Waits until shards have done all they had to do. For tests that move the clock: nothing new may arrive meanwhile.</summary>
internal static class Idleness
{
    public static Task WhenIdleAsync(this ZlinkContext context) => context.Host.Shards.WhenIdleAsync();

    public static async Task WhenIdleAsync(this ShardSet all)
    {
        // Work may post to another shard, so one pass proves nothing, not even if no work began in it: earlier work may have posted to a
        // shard that this pass had visited.
        long before = -1;
        for (int quiet = 0; quiet < 2;)
        {
            IReadOnlyList<ShardLoop> shards = all.All;
            foreach (ShardLoop shard in shards)
            {
                var passed = new ShardTask(static () => { });
                shard.Post(passed, 1);
                await passed.Task.ConfigureAwait(false);
            }

            long works = shards.Sum(static shard => shard.Counters.Works);
            quiet = works == before + shards.Count ? quiet + 1 : 0;
            before = works;
        }
    }
}
