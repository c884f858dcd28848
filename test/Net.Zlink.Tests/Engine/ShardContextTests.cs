using Net.Zlink.Engine;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Engine;

/// <summary>The execution context that a shard's works begin in.</summary>
public sealed class ShardContextTests
{
    private static readonly AsyncLocal<string?> Local = new();

    public enum Way
    {
        RunOrPost,
        TryRunNow,
        Help,
    }

    [Theory]
    [InlineData(Way.RunOrPost, false)]
    [InlineData(Way.RunOrPost, true)]
    [InlineData(Way.TryRunNow, false)]
    [InlineData(Way.TryRunNow, true)]
    [InlineData(Way.Help, false)]
    [InlineData(Way.Help, true)]
    public async Task A_work_sees_nothing_of_the_thread_that_brings_the_turn_and_leaves_it_nothing(Way way, bool isFlowSuppressed)
    {
        string? seen = null;
        bool ranHere = false;

        // The pool may be quicker with what is posted; within so many rounds this thread is first.
        for (int round = 0; round < 10_000 && !ranHere; round++)
        {
            ShardLoop shard = NewShard();
            int here = Environment.CurrentManagedThreadId;
            Local.Value = "the caller's";
            AsyncFlowControl flow = isFlowSuppressed ? ExecutionContext.SuppressFlow() : default;
            var work = new TestWork(_ =>
            {
                ranHere = Environment.CurrentManagedThreadId == here;
                seen ??= Local.Value;
                Local.Value = "the work's";
            });
            switch (way)
            {
                case Way.RunOrPost:
                    shard.RunOrPost(work, 1);
                    break;
                case Way.TryRunNow:
                    Assert.True(shard.TryRunNow(work, 1));
                    break;
                default:
                    shard.PostUrgent(work, 1);
                    shard.Help();
                    break;
            }

            Assert.Equal("the caller's", Local.Value);
            Assert.Equal(isFlowSuppressed, ExecutionContext.IsFlowSuppressed());
            if (isFlowSuppressed)
            {
                flow.Undo();
            }

            await DrainAsync(shard);
        }

        Assert.True(ranHere);
        Assert.Null(seen);
    }

    [Fact]
    public async Task Execution_context_that_one_work_item_sets_is_not_seen_by_the_next()
    {
        ShardLoop shard = NewShard();
        string? seen = null;
        string? culture = null;
        bool wasSuppressed = false;
        string usual = Thread.CurrentThread.CurrentCulture.Name;
        Hold(shard, () =>
        {
            shard.Post(new TestWork(static _ =>
            {
                Local.Value = "the first one's";
                Thread.CurrentThread.CurrentCulture = new System.Globalization.CultureInfo(Strange);
                ExecutionContext.SuppressFlow();
            }), 1);
            shard.Post(new TestWork(_ =>
            {
                seen = Local.Value;
                culture = Thread.CurrentThread.CurrentCulture.Name;
                wasSuppressed = ExecutionContext.IsFlowSuppressed();
            }), 1);
        });
        await DrainAsync(shard);
        Assert.Null(seen);
        Assert.NotEqual(Strange, culture, StringComparer.Ordinal);
        Assert.False(wasSuppressed);
        Assert.Equal(usual, Thread.CurrentThread.CurrentCulture.Name);
    }

    // No machine's own: it exists with or without data for cultures.
    private const string Strange = "tlh-KX";
}
