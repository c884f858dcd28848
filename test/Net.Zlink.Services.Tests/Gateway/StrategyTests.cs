using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests;

public class StrategyTests
{
    [Fact]
    public void Turns_of_round_robin_and_weights_follow_the_order_of_the_native_core()
    {
        ServicePool pool = PoolOf(3, 1, 2);
        PoolSnapshot ready = ReadyOf(3, 1, 2);
        for (int i = 0; i < 10; i++)
        {
            Assert.Equal(i % 3, pool.Next(ready));
        }

        pool.LoadBalancing = LoadBalancing.Weighted;
        string sequence = string.Concat(Enumerable.Range(0, 14).Select(_ => (char)('A' + pool.Next(ready))));

        Assert.Equal("CCAAABCCAAABCC", sequence); // After 10 turns of round robin, as the native core continues.
    }

    [Fact]
    public void A_single_receiver_takes_no_turn()
    {
        ServicePool pool = PoolOf(1);
        for (int i = 0; i < 7; i++)
        {
            Assert.Equal(0, pool.Next(ReadyOf(1)));
        }

        Assert.Equal(0UL, pool.TakeTurns(1));
    }

    [Theory]
    [InlineData(LoadBalancing.RoundRobin, new uint[] { 1, 1, 1 }, new[] { 1.0 / 3, 1.0 / 3, 1.0 / 3 })]
    [InlineData(LoadBalancing.Weighted, new uint[] { 8, 1, 3 }, new[] { 8.0 / 12, 1.0 / 12, 3.0 / 12 })]
    [InlineData(LoadBalancing.LeastOutstanding, new uint[] { 1, 1, 1, 1 }, new[] { 0.25, 0.25, 0.25, 0.25 })]
    public void Shares_over_a_million_turns_are_those_of_the_strategy(LoadBalancing strategy, uint[] weights, double[] expected)
    {
        const int Turns = 1_000_000;
        ServicePool pool = PoolOf(weights);
        pool.LoadBalancing = strategy;
        PoolSnapshot ready = ReadyOf(weights);
        int[] counts = new int[weights.Length];
        for (int i = 0; i < Turns; i++)
        {
            counts[pool.Next(ready)]++;
        }

        for (int i = 0; i < counts.Length; i++)
        {
            Assert.InRange(counts[i] / (double)Turns, expected[i] - 0.01, expected[i] + 0.01);
        }
    }

    [Fact]
    public void Of_two_receivers_the_one_with_fewer_outstanding_requests_for_its_weight_is_chosen()
    {
        ServicePool pool = PoolOf(1, 1);
        pool.LoadBalancing = LoadBalancing.LeastOutstanding;
        PoolSnapshot ready = ReadyOf(1, 1);
        for (int i = 0; i < 5; i++)
        {
            ready.Links[0].BeginRequest();
        }

        Assert.All(Enumerable.Range(0, 100), _ => Assert.Equal(1, pool.Next(ready)));
        Assert.True(ReceiverChoice.HasNoMore(3, 2, 1, 1)); // 4 of weight 2 is no more than 2 of weight 1.
        Assert.False(ReceiverChoice.HasNoMore(4, 2, 1, 1));
    }

    [Fact]
    public async Task Eight_threads_give_exact_counts()
    {
        const int Threads = 8;
        const int PerThread = 30_000;
        ServicePool pool = PoolOf(1, 1, 1);
        PoolSnapshot ready = ReadyOf(1, 1, 1);
        int[] counts = new int[3];
        await Task.WhenAll(Enumerable.Range(0, Threads).Select(_ => Task.Run(() =>
        {
            for (int i = 0; i < PerThread; i++)
            {
                Interlocked.Increment(ref counts[pool.Next(ready)]);
            }
        }))).Guarded();

        Assert.Equal([80_000, 80_000, 80_000], counts);
    }

    [Theory]
    [InlineData(100, 0, false, new uint[] { 1, 1, 1 }, new[] { 34, 33, 33 })]
    [InlineData(101, 2, false, new uint[] { 1, 1, 1 }, new[] { 34, 33, 34 })]
    [InlineData(120, 0, true, new uint[] { 3, 1, 2 }, new[] { 60, 20, 40 })]
    public void A_batch_is_shared_out_in_blocks(int count, int first, bool isWeighted, uint[] weights, int[] expected)
    {
        int[] shares = new int[weights.Length];
        ulong total = isWeighted ? (ulong)weights.Sum(static weight => (long)weight) : (ulong)weights.Length;
        ulong weight = 0;
        int sent = 0;
        for (int i = 0; i < weights.Length; i++)
        {
            int index = (first + i) % weights.Length;
            weight += isWeighted ? weights[index] : 1;
            int end = ServiceSender.EndOfBlock(count, weight, total);
            shares[index] = end - sent;
            sent = end;
        }

        Assert.Equal(expected, shares);
        Assert.Equal(count, sent);
    }

    private static ServicePool PoolOf(params uint[] weights) => new(string.Join(',', weights));

    private static PoolSnapshot ReadyOf(params uint[] weights) => new(
        [.. weights.Select(static (_, index) => new ReceiverLink($"tcp://{index}", (uint)index + 1))],
        [.. weights.Select(static (weight, index) => new ServiceInstance("svc", $"tcp://{index}") { Weight = weight })],
        isListed: true,
        isFirstAttempt: false);
}
