using Net.Zlink.Tests.Support;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Monitoring;

/// <summary>Which instruments are told the same.</summary>
public sealed class CollectionSnapshotTests
{
    private readonly ManualTimeProvider _time = new();
    private readonly Func<string>[] _instruments;
    private int _looks;

    public CollectionSnapshotTests()
    {
        var look = new CollectionSnapshot<string>(() => $"{++_looks}", _time);
        _instruments = [look.AddReader(), look.AddReader(), look.AddReader(), look.AddReader()];
    }

    [Fact]
    public void A_collection_of_all_instruments_looks_once_and_the_next_one_anew()
    {
        Assert.Equal(["1", "1", "1", "1"], Ask(0, 1, 2, 3));
        Assert.Equal(["2", "2", "2", "2"], Ask(0, 1, 2, 3));
        Assert.Equal(["3", "3"], Ask(0, 1)); // One that is broken off,
        Assert.Equal(["4", "4"], Ask(0, 1)); // and begins again.
    }

    [Fact]
    public void An_instrument_that_is_asked_alone_or_twice_or_out_of_turn_is_told_what_is_now()
    {
        Assert.Equal(["1", "2", "3"], Ask(2, 2, 3));
        Assert.Equal(["4", "5", "6"], Ask(0, 2, 3));
        Assert.Equal(["7", "7", "8"], Ask(0, 1, 1));
        Assert.Equal(["9", "10"], Ask(0, 0));
    }

    [Fact]
    public void An_instrument_that_asks_out_of_turn_does_not_disturb_a_collection()
    {
        Assert.Equal(["1", "1"], Ask(0, 1));
        Assert.Equal(["2"], Ask(3));
        InParallel(() => Assert.Equal(["3"], Ask(2))); // On another thread it is not the one that is next.
        Assert.Equal(["1", "1"], Ask(2, 3));
    }

    [Fact]
    public void A_collection_does_not_see_the_snapshot_of_another_threads_collection()
    {
        Assert.Equal(["1", "1"], Ask(0, 1));
        InParallel(() => Assert.Equal(["2", "2", "2"], Ask(0, 1, 2)));
        Assert.Equal(["3", "4"], Ask(2, 3));
    }

    [Fact]
    public void A_collection_never_reports_an_old_snapshot_however_the_instruments_are_asked()
    {
        Assert.Equal(["1"], Ask(0));
        _time.Advance(CollectionSnapshot<string>.Freshness - TimeSpan.FromTicks(1));
        Assert.Equal(["1"], Ask(1));
        _time.Advance(TimeSpan.FromTicks(1));
        Assert.Equal(["2", "3"], Ask(2, 3));
    }

    private string[] Ask(params int[] instruments) => [.. instruments.Select(one => _instruments[one]())];
}
