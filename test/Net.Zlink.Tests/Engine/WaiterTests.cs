using System.Diagnostics.CodeAnalysis;
using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Tests.Support;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Engine;

[SuppressMessage("Reliability", "CA2012",
    Justification = "Reading a value task at the wrong time, and right after its completion, is what is tested.")]
public sealed class WaiterTests
{
    [Fact]
    public async Task Cancellation_against_completion_has_exactly_one_outcome_and_the_loser_keeps_its_result()
    {
        const int Rounds = 1_500;
        var line = new Line();
        var results = new Task<int>[Rounds];
        var delivered = new bool[Rounds];
        var sources = new CancellationTokenSource[Rounds];
        using var round = new Barrier(2);
        InParallel(
            () =>
            {
                for (int i = 0; i < Rounds; i++)
                {
                    sources[i] = new CancellationTokenSource();
                    results[i] = line.WaitAsync(sources[i].Token).AsTask();
                    Assert.True(round.SignalAndWait(Patience));
                    if ((i & 1) == 0)
                    {
                        Thread.SpinWait(i % 60);
                    }

                    sources[i].Cancel();
                    Assert.True(round.SignalAndWait(Patience));
                }
            },
            () =>
            {
                for (int i = 0; i < Rounds; i++)
                {
                    Assert.True(round.SignalAndWait(Patience));
                    if ((i & 2) == 0)
                    {
                        Thread.SpinWait(i % 50);
                    }

                    delivered[i] = line.TryComplete(i);
                    Assert.True(round.SignalAndWait(Patience));
                }
            });

        await Task.WhenAny(Task.WhenAll(results)).WaitAsync(Patience, TestContext.Current.CancellationToken);
        for (int i = 0; i < Rounds; i++)
        {
            Assert.Equal(delivered[i], results[i].IsCompletedSuccessfully);
            Assert.Equal(!delivered[i], results[i].IsCanceled);
            if (delivered[i])
            {
                Assert.Equal(i, await results[i]);
            }

            sources[i].Dispose();
        }

        Assert.True(line.IsEmpty);
    }

    [Fact]
    public async Task A_recycled_waiter_does_not_hear_the_cancellation_of_its_former_life()
    {
        var line = new Line();
        using var old = new CancellationTokenSource();
        ValueTask<int> first = line.WaitAsync(old.Token);
        line.TryComplete(1);
        Assert.Equal(1, await first);
        Assert.Equal(1, line.Recycled);

        ValueTask<int> second = line.WaitAsync(CancellationToken.None);
        Assert.Equal(1, line.Made);
        await old.CancelAsync();
        Assert.False(second.IsCompleted);
        line.TryComplete(2);
        Assert.Equal(2, await second);
    }

    [Fact]
    public async Task A_cancelled_wait_ends_with_its_own_token_and_its_waiter_is_not_reused()
    {
        var line = new Line();
        using var source = new CancellationTokenSource();
        ValueTask<int> wait = line.WaitAsync(source.Token);
        await source.CancelAsync();
        OperationCanceledException e = await Assert.ThrowsAsync<OperationCanceledException>(async () => await wait);
        Assert.Equal(source.Token, e.CancellationToken);
        Assert.Equal(0, line.Recycled);
        Assert.False(line.TryComplete(1));
    }

    [Fact]
    public async Task A_token_that_is_cancelled_already_ends_the_wait_at_once()
    {
        var line = new Line();
        ValueTask<int> wait = line.WaitAsync(new CancellationToken(canceled: true));
        Assert.True(wait.IsCanceled);
        await Assert.ThrowsAsync<OperationCanceledException>(async () => await wait);
        Assert.True(line.IsEmpty);
    }

    [Fact]
    public void A_result_read_twice_or_too_early_throws_and_the_waiter_is_not_given_back_again()
    {
        var line = new Line();
        ValueTask<int> wait = line.WaitAsync(CancellationToken.None);
        Assert.Contains("before the wait ended", Assert.Throws<InvalidOperationException>(() => Read(wait)).Message,
            StringComparison.Ordinal);
        Assert.Equal(0, line.Recycled);

        line.TryComplete(7);
        Assert.Equal(7, Read(wait));
        Assert.Contains("AsTask", Assert.Throws<InvalidOperationException>(() => Read(wait)).Message, StringComparison.Ordinal);
        // What an await asks first.
        Assert.Contains("AsTask", Assert.Throws<InvalidOperationException>(() => wait.IsCompleted).Message, StringComparison.Ordinal);
        Assert.Equal(1, line.Recycled);

        // Two more waits, two different waiters: each gets its own result.
        ValueTask<int> a = line.WaitAsync(CancellationToken.None);
        ValueTask<int> b = line.WaitAsync(CancellationToken.None);
        Assert.Throws<InvalidOperationException>(() => Read(wait));
        line.TryComplete(1);
        line.TryComplete(2);
        Assert.Equal((1, 2), (Read(a), Read(b)));
    }

    [Fact]
    public async Task A_failed_wait_throws_what_it_failed_with()
    {
        var line = new Line();
        ValueTask<int> wait = line.WaitAsync(CancellationToken.None);
        line.TryFail(new FormatException("gone"));
        Assert.Equal("gone", (await Assert.ThrowsAsync<FormatException>(async () => await wait)).Message);
    }

    [Fact]
    public async Task Waits_are_served_first_in_first_out_and_any_of_them_can_leave_the_middle()
    {
        var line = new Line();
        CancellationTokenSource[] sources = [.. Enumerable.Range(0, 5).Select(_ => new CancellationTokenSource())];
        Task<int>[] waits = [.. sources.Select(s => line.WaitAsync(s.Token).AsTask())];
        foreach (int leaving in (int[])[2, 0, 4])
        {
            await sources[leaving].CancelAsync();
            await Assert.ThrowsAnyAsync<OperationCanceledException>(() => waits[leaving]);
        }

        line.TryComplete(10);
        line.TryComplete(20);
        Assert.Equal(10, await waits[1]);
        Assert.Equal(20, await waits[3]);
        Assert.True(line.IsEmpty);
        Array.ForEach(sources, s => s.Dispose());
    }

    [Fact]
    public void Waiting_allocates_nothing_in_steady_state_with_a_token_or_without()
    {
        var line = new Line();
        using var source = new CancellationTokenSource();
        CancellationToken token = source.Token;
        int round = 0;
        long allocated = Allocations.OfPieces(pieces =>
        {
            round++;
            pieces.Begin();
            ValueTask<int> wait = line.WaitAsync(round % 2 == 0 ? token : CancellationToken.None);
            line.TryComplete(round);
            int result = Read(wait);
            pieces.End();
            Assert.Equal(round, result);
        });
        Assert.Equal(0, allocated);
    }

    [Fact]
    public async Task Continuations_of_awaiting_code_do_not_run_on_the_stack_of_the_one_who_completes()
    {
        var line = new Line();
        int completing = Environment.CurrentManagedThreadId;
        int continued = 0;
        async Task AwaitAsync()
        {
            await line.WaitAsync(CancellationToken.None).ConfigureAwait(false);
            continued = Environment.CurrentManagedThreadId;
        }

        Task waiting = null!;
        InParallel(() =>
        {
            // On a thread of its own, so that the pool thread which continues can't be the same one.
            waiting = AwaitAsync();
            completing = Environment.CurrentManagedThreadId;
            line.TryComplete(1);
        });
        await waiting.WaitAsync(Patience, TestContext.Current.CancellationToken);
        Assert.NotEqual(completing, continued);
    }

    private static int Read(ValueTask<int> wait) => wait.GetAwaiter().GetResult();

    /// <summary>A list of waits for numbers.</summary>
    internal sealed class Line : IWaiterList
    {
        private readonly Lock _gate = new();
        private WaiterList<Waiter<int>> _waiters;
        private readonly ObjectCache<Waiter<int>> _pool = new(WaiterNode.MaxKept);
        private readonly Action<Waiter<int>> _recycle;
        private int _made;
        private int _recycled;

        public Line() => _recycle = waiter =>
        {
            _recycled++;
            _pool.Return(waiter);
        };

        public int Recycled => _recycled;

        /// <summary>Different waiters seen.</summary>
        public int Made => _made;

        public bool IsEmpty
        {
            get
            {
                lock (_gate)
                {
                    return _waiters.IsEmpty;
                }
            }
        }

        public Waiter<int> Add(bool blocking)
        {
            Waiter<int> waiter = _pool.Rent();
            if (waiter.Version == 0)
            {
                _made++; // Never prepared before.
            }

            waiter.Prepare(this, _recycle, blocking);
            lock (_gate)
            {
                _waiters.Add(waiter);
            }

            return waiter;
        }

        public ValueTask<int> WaitAsync(CancellationToken token)
        {
            Waiter<int> waiter = Add(blocking: false);
            waiter.CancelWith(token);
            return new ValueTask<int>(waiter, waiter.Version);
        }

        public bool TryRemove(WaiterNode waiter)
        {
            lock (_gate)
            {
                return _waiters.Remove(waiter);
            }
        }

        public bool TryComplete(int result)
        {
            Waiter<int>? waiter = TakeFirst();
            waiter?.Complete(result);
            return waiter is not null;
        }

        public void TryFail(Exception exception) => TakeFirst()?.Fail(exception);

        public Waiter<int>? TakeFirst()
        {
            lock (_gate)
            {
                Waiter<int>? first = _waiters.First;
                if (first is not null)
                {
                    _waiters.Remove(first);
                }

                return first;
            }
        }
    }
}
