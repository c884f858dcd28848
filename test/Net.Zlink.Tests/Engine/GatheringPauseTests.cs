using Net.Zlink.Engine;
using Xunit;

namespace Net.Zlink.Tests.Engine;

public sealed class GatheringPauseTests
{
    private BatchingPause _pause;

    [Fact]
    public void A_pause_that_brings_several_messages_is_made_before_each_batch()
    {
        SkipWithoutOthers();
        for (int i = 0; i < 10; i++)
        {
            Assert.True(_pause.Make());
            _pause.Report(8);
        }
    }

    [Fact]
    public void A_pause_that_brings_nothing_more_is_left_out_for_twice_as_long_each_time_up_to_a_thousand_batches()
    {
        SkipWithoutOthers();
        int[] leftOut = [.. Enumerable.Range(0, 13).Select(_ =>
        {
            Assert.True(_pause.Make());
            _pause.Report(1);
            return LeftOut();
        })];
        Assert.Equal([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 1024, 1024], leftOut);
    }

    [Fact]
    public void A_gathering_pause_that_pays_again_is_made_again_at_once()
    {
        SkipWithoutOthers();
        for (int i = 0; i < 5; i++)
        {
            _pause.Report(1);
        }

        Assert.Equal(16, LeftOut());
        _pause.Report(100);
        Assert.True(_pause.Make());
    }

    private static void SkipWithoutOthers() =>
        Assert.SkipUnless(Environment.ProcessorCount > 1, "On one processor nobody could add anything during a pause, and none is made.");

    // Looks one further than the pauses that are left out; that one is made.
    private int LeftOut()
    {
        int count = 0;
        while (!_pause.Make())
        {
            count++;
        }

        return count;
    }
}
