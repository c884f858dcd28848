using Net.Zlink.Scenarios.Patterns;
using Net.Zlink.Scenarios.Patterns.Running;
using Xunit;

namespace Net.Zlink.Scenarios.Tests.Patterns.Running;

/// <summary>Every pattern really measures: with one client and with some, over a wire and without one.</summary>
public sealed class PatternRunTests
{
    [Theory]
    [InlineData(PatternNames.Pair, "inproc", 1)]
    [InlineData(PatternNames.PubSub, "tcp", 1)]
    [InlineData(PatternNames.PubSub, "inproc", 3)]
    [InlineData(PatternNames.DealerDealer, "tcp", 1)]
    [InlineData(PatternNames.DealerDealer, "inproc", 3)]
    [InlineData(PatternNames.DealerRouter, "tcp", 3)]
    [InlineData(PatternNames.RouterRouter, "tcp", 3)]
    [InlineData(PatternNames.RouterRouterPoll, "inproc", 3)]
    [InlineData(PatternNames.Stream, "tcp", 3)]
    [InlineData(PatternNames.Gateway, "tcp", 3)]
    [InlineData(PatternNames.Gateway, "inproc", 1)]
    [InlineData(PatternNames.Spot, "tcp", 1)]
    [InlineData(PatternNames.Spot, "inproc", 3)]
    public void All_messages_arrive_one_by_one_and_in_batches_and_round_trips_come_back(string pattern, string transport, int clients)
    {
        var run = new CountingRun(size: 300, messages: 5_000);
        ManagedProgram.Run(new PatternCase(pattern, transport, 300, clients), run);
        Assert.True(run.HasRun);
        Assert.Equal(pattern is not (PatternNames.PubSub or PatternNames.Gateway or PatternNames.Spot)
            && !(pattern is PatternNames.DealerDealer && clients > 1), run.HadWayBack);
    }

    [Theory]
    [InlineData(PatternNames.Gateway)]
    [InlineData(PatternNames.Spot)]
    public void Batches_bring_all_messages_to_all_receivers(string pattern)
    {
        var run = new CountingRun(size: 300, messages: 5_000);
        ManagedProgram.Run(new PatternCase(pattern, "tcp", 300, Clients: 3), run, batch: true);
        Assert.True(run.HasRun);
    }

    [Fact]
    public void Requests_of_a_gateway_come_back_with_their_payload()
    {
        var run = new CountingRun(size: 300, messages: 1);
        ManagedProgram.Run(new PatternCase(PatternNames.GatewayRequest, "tcp", 300, Clients: 2), run);
        Assert.True(run.HasRun);
    }

    private sealed class CountingRun(int size, int messages) : IPatternRun
    {
        public bool HasRun { get; private set; }

        public bool HadWayBack { get; private set; }

        public void Measure<TEnds>(TEnds ends, Func<IEnumerable<string>> describe)
            where TEnds : struct, IPatternEnds
        {
            using var watch = new StallWatch(describe);
            ends.AwaitConnection();
            foreach (bool batch in new[] { false, true })
            {
                var measurement = new PatternMeasurement<TEnds>(ends, size, batch, watch);
                measurement.WarmUp(10);
                Assert.True(measurement.Throughput(messages) > 0);
                measurement.Check();
                if (ends.Ways > 0)
                {
                    Assert.True(measurement.Latency(50) > 0);
                }
            }

            HadWayBack = ends.Ways > 1;
            HasRun = true;
        }

        public void MeasureRoundTrips(Func<ValueTask<bool>> roundTrip)
        {
            for (int i = 0; i < 50; i++)
            {
                Assert.True(roundTrip().AsTask().GetAwaiter().GetResult());
            }

            HasRun = true;
        }
    }
}
