using System.CommandLine;
using Net.Zlink.Services;

namespace Net.Zlink.Scenarios.Patterns.Services;

/// <summary>What SPOT costs beside itself: many subscriptions, batches, nodes at rest, a slow subscriber.</summary>
internal static class SpotCommand
{
    private const int ExactTopics = 1_000;
    private const int Prefixes = 10_000;
    private const int IdleNodes = 10;

    // The bars of docs/benchmarks.md.
    private const double MaxTime = 1.3;
    private const double MinBatch = 1.3;
    private const double MaxPercentile = 1.2;

    // Heartbeats come every few seconds: so long the runtime compiles their code. Of 10 s behind 5 s it took 1.3 %.
    private static readonly TimeSpan s_settling = TimeSpan.FromSeconds(25);

    public static Command Create()
    {
        var command = new CostCommand(
            "spot",
            $"SPOT over tcp, 64 bytes: time a message with {ExactTopics:N0} topics and {Prefixes:N0} prefixes, beside one topic; batches "
                + $"beside single messages; the 99th percentile of {SpotLatency.Others} subscribers beside a slow one; {IdleNodes} nodes "
                + $"at rest. Exit code 1: a median is over {MaxTime:0.0} x, below {MinBatch:0.0} x, over {MaxPercentile:0.0} x or over "
                + $"{CostCommand.MaxIdlePercent:0.0} % of one processor.");
        Option<int> count = command.Number("--count", "Messages of each flood.", 300_000);
        Option<int> rounds = command.Rounds();
        Option<int> seconds = command.Number("--seconds", "For how long nodes rest.", 20);
        return command.Runs(async (request, cancellation) =>
        {
            double idle = await IdleAsync(TimeSpan.FromSeconds(request.GetValue(seconds)), cancellation);
            CostCommand.Print("SPOT_NODES_IDLE", "percent", [idle], SpotFlood.Size);
            (double exact, double prefixes, double batch) =
                await FloodsAsync(request.GetValue(count), request.GetValue(rounds), cancellation);
            double percentile = await SlowAsync(request.GetValue(rounds), cancellation);
            return exact <= MaxTime && prefixes <= MaxTime && batch >= MinBatch && percentile <= MaxPercentile
                && idle <= CostCommand.MaxIdlePercent;
        });
    }

    private static async Task<(double Exact, double Prefixes, double Batch)> FloodsAsync(
        int count, int rounds, CancellationToken cancellation)
    {
        await using var context = new ZlinkContext();
        await using SpotFlood one = await SpotFlood.CreateAsync(context, texts: 1, arePrefixes: false, cancellation);
        await using SpotFlood exact = await SpotFlood.CreateAsync(context, ExactTopics, arePrefixes: false, cancellation);
        await using SpotFlood prefixes = await SpotFlood.CreateAsync(context, Prefixes, arePrefixes: true, cancellation);
        var ratios = new List<(double Exact, double Prefixes, double Batch)>();
        for (int i = 0; i < rounds; i++)
        {
            double single = await one.RateAsync(count, batch: false, cancellation);
            double ofExact = await exact.RateAsync(count, batch: false, cancellation);
            double ofPrefixes = await prefixes.RateAsync(count, batch: false, cancellation);
            double inBatches = await one.RateAsync(count, batch: true, cancellation);
            Console.WriteLine($"round {i}: {single:N0} msg/s, exact {ofExact:N0}, prefixes {ofPrefixes:N0}, batches {inBatches:N0}");
            ratios.Add((single / ofExact, single / ofPrefixes, inBatches / single));
        }

        ratios.RemoveAt(0);
        return (CostCommand.Print("SPOT_EXACT", "time", ratios.Select(static one => one.Exact), SpotFlood.Size),
            CostCommand.Print("SPOT_PREFIXES", "time", ratios.Select(static one => one.Prefixes), SpotFlood.Size),
            CostCommand.Print("SPOT_BATCH", "rate", ratios.Select(static one => one.Batch), SpotFlood.Size));
    }

    private static async Task<double> SlowAsync(int rounds, CancellationToken cancellation)
    {
        var ratios = new List<double>();
        for (int i = 0; i < rounds; i++)
        {
            double without = await SpotLatency.MeasureAsync(isOneSlow: false, cancellation);
            double with = await SpotLatency.MeasureAsync(isOneSlow: true, cancellation);
            Console.WriteLine($"round {i}: p99 {without:0.0} us, beside a slow one {with:0.0} us");
            ratios.Add(with / without);
        }

        return CostCommand.Print("SPOT_SLOW", "p99", ratios.Skip(1), SpotFlood.Size);
    }

    /// <summary>Nodes that are registered, connected to each other, and subscribed.</summary>
    private static async Task<double> IdleAsync(TimeSpan time, CancellationToken cancellation)
    {
        await using var context = new ZlinkContext();
        await using var registry = new ServiceRegistry(
            context, new ServiceRegistryOptions { PublisherEndpoint = CostCommand.Endpoint, RouterEndpoint = CostCommand.Endpoint });
        registry.Start();
        await using var discovery = new RegistryDirectory(context, ServiceKind.SpotNode);
        discovery.ConnectRegistry(registry.PublisherEndpoint);
        await Task.Delay(s_settling, cancellation);
        double without = await CostCommand.IdlePercentAsync(time, cancellation);
        var nodes = new SpotNode[IdleNodes];
        for (int i = 0; i < nodes.Length; i++)
        {
            nodes[i] = new SpotNode(context);
            nodes[i].Bind(CostCommand.Endpoint);
            nodes[i].ConnectRegistry(registry.RouterEndpoint);
            await nodes[i].RegisterAsync(cancellationToken: cancellation);
            nodes[i].UseDirectory(discovery);
            nodes[i].CreateSubscriber().SubscribePrefix("");
        }

        foreach (SpotNode node in nodes)
        {
            await node.WaitForPeersAsync(IdleNodes - 1, cancellation);
        }

        await Task.Delay(s_settling, cancellation);
        double with = await CostCommand.IdlePercentAsync(time, cancellation);
        foreach (SpotNode node in nodes)
        {
            await node.DisposeAsync();
        }

        return CostCommand.AddedPercent(without, with);
    }
}
