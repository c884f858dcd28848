using Net.Zlink.Sockets.Endpoints;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Sockets.Endpoints;

/// <summary>When a connect of an endpoint begins behind those of the same one that were let go of.</summary>
public sealed class PredecessorWaitTests
{
    private static readonly TimeSpan CloseTimeout = TimeSpan.FromSeconds(5);

    private readonly ManualTimeProvider _clock = new();
    private long? _writes;

    [Fact]
    public async Task The_first_begins_at_once_and_of_thousands_behind_it_each_when_the_one_before_is_over()
    {
        const int Connects = 5_000;
        PredecessorWait first = Turn(null);
        Assert.True(first.IsUnblocked);
        await first.WaitAsync(CloseTimeout, CancellationToken.None).Guarded();
        var line = new List<(PredecessorWait Turn, Task Comes)> { (first, Task.CompletedTask) };
        for (int i = 1; i < Connects; i++)
        {
            PredecessorWait predecessor = Turn(line[^1].Turn);
            line.Add((predecessor, predecessor.WaitAsync(CloseTimeout, CancellationToken.None)));
        }

        for (int i = 0; i < Connects; i++)
        {
            await line[i].Comes.Guarded();
            Assert.True(line[i].Turn.IsUnblocked);
            Assert.True(i == Connects - 1 || !line[i + 1].Comes.IsCompleted);
            line[i].Turn.End();
            await line[i].Turn.Completion.Guarded();
        }
    }

    [Fact]
    public async Task A_connect_that_ends_while_it_waits_leaves_its_predecessors_to_the_next_one()
    {
        PredecessorWait first = Turn(null);
        PredecessorWait second = Turn(first);
        PredecessorWait third = Turn(second);
        PredecessorWait fourth = Turn(third);
        using var ended = new CancellationTokenSource();
        Task secondComes = second.WaitAsync(CloseTimeout, ended.Token);
        Task fourthComes = fourth.WaitAsync(CloseTimeout, CancellationToken.None);
        third.End(); // It has never begun to wait, as one that the socket had no place for.
        await ended.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => secondComes.Guarded());
        second.End();
        PredecessorWait fifth = Turn(second); // Behind one that is over already.
        Task fifthComes = fifth.WaitAsync(CloseTimeout, CancellationToken.None);
        _clock.Advance(CloseTimeout); // The first has no connection: that takes as long as it takes.
        _clock.Advance(CloseTimeout);
        Assert.False(fourthComes.IsCompleted);
        Assert.False(fifthComes.IsCompleted);
        first.End();
        await Task.WhenAll(fourthComes, fifthComes).Guarded();
    }

    [Fact]
    public async Task A_predecessor_whose_connection_makes_no_progress_is_waited_for_only_for_the_close_timeout()
    {
        _writes = 1;
        Task comes = Turn(Turn(null)).WaitAsync(CloseTimeout, CancellationToken.None);
        _clock.Advance(CloseTimeout - TimeSpan.FromTicks(1));
        Assert.False(comes.IsCompleted);
        _clock.Advance(TimeSpan.FromTicks(1));
        await comes.Guarded();
    }

    [Fact]
    public async Task A_wait_for_a_predecessor_can_be_cancelled()
    {
        using var ended = new CancellationTokenSource();
        PredecessorWait first = Turn(null);
        Task behindOneThatBegan = Turn(first).WaitAsync(CloseTimeout, ended.Token);
        Task behindOneThatWaits = Turn(Turn(first)).WaitAsync(CloseTimeout, ended.Token);
        await ended.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => behindOneThatBegan.Guarded());
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => behindOneThatWaits.Guarded());
    }

    private PredecessorWait Turn(PredecessorWait? before) => new(before, _clock, () => _writes);
}
