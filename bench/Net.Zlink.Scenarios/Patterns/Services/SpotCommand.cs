using System.CommandLine;
using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Scenarios.Patterns.Running;
using Net.Zlink.Services;

namespace Net.Zlink.Scenarios.Patterns.Services;

/// <summary>What SPOT costs beside itself: many subscriptions, batches, nodes at rest, a slow subscriber.</summary>
internal static class SpotCommand
{
    private const int ExactTopics = 1_000;
    private const int Prefixes = 10_000;
    private const int IdleNodes = 10;

    // What the issue asks for.
    private const double MaxTime = 1.3;
    private const double MinBatch = 1.3;
    private const double MaxPercentile = 1.2;

    // Heartbeats come every few seconds: so long the runtime compiles their code. Of 10 s behind 5 s it took 1.3 %.
    private static readonly TimeSpan s_settling = TimeSpan.FromSeconds(25);

    public static Command Create()
    {
        Option<int> count = new Option<int>("--count") { Description = "Messages of each flood.", DefaultValueFactory = _ => 300_000 }
            .AtLeast(1);
        Option<int> rounds = new Option<int>("--rounds") { Description = "Rounds; the first is not judged.", DefaultValueFactory = _ => 6 }
            .AtLeast(2);
        Option<int> seconds = new Option<int>("--seconds") { Description = "For how long nodes rest.", DefaultValueFactory = _ => 20 }
            .AtLeast(1);
        var command = new ExampleCommand(
            "spot",
            $"SPOT over tcp, 64 bytes: time a message with {ExactTopics:N0} topics and {Prefixes:N0} prefixes, beside one topic; batches "
                + $"beside single messages; the 99th percentile of {SpotLatency.Others} subscribers beside a slow one; {IdleNodes} nodes "
                + $"at rest. Exit code 1: a median is over {MaxTime:0.0} x, below {MinBatch:0.0} x, over {MaxPercentile:0.0} x or over "
                + $"{ServicesCommand.MaxPercent:0.0} % of one processor.",
            "... spot");
        command.Add(count);
        command.Add(rounds);
        command.Add(seconds);
        command.SetAction(async (request, cancellation) =>
        {
            double idle = await IdleAsync(TimeSpan.FromSeconds(request.GetValue(seconds)), cancellation);
            Print("SPOT_NODES_IDLE", "percent", [idle]);
            (double exact, double prefixes, double batch) =
                await FloodsAsync(request.GetValue(count), request.GetValue(rounds), cancellation);
            double percentile = await SlowAsync(request.GetValue(rounds), cancellation);
            return exact <= MaxTime && prefixes <= MaxTime && batch >= MinBatch && percentile <= MaxPercentile
                && idle <= ServicesCommand.MaxPercent ? 0 : CommandLineProgram.Failed;
        });
        return command;
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
        return (Print("SPOT_EXACT", "time", ratios.Select(static one => one.Exact)),
            Print("SPOT_PREFIXES", "time", ratios.Select(static one => one.Prefixes)),
            Print("SPOT_BATCH", "rate", ratios.Select(static one => one.Batch)));
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

        return Print("SPOT_SLOW", "p99", ratios.Skip(1));
    }

    /// <summary>Nodes that are registered, connected to each other, and subscribed.</summary>
    private static async Task<double> IdleAsync(TimeSpan time, CancellationToken cancellation)
    {
        await using var context = new ZlinkContext();
        await using var registry = new Registry(
            context, new RegistryOptions { PublisherEndpoint = ServicesCommand.Endpoint, RouterEndpoint = ServicesCommand.Endpoint });
        registry.Start();
        await using var discovery = new Discovery(context, ServiceKind.SpotNode);
        discovery.ConnectRegistry(registry.PublisherEndpoint);
        await Task.Delay(s_settling, cancellation);
        double without = await ServicesCommand.PercentAsync(time, cancellation);
        var nodes = new SpotNode[IdleNodes];
        for (int i = 0; i < nodes.Length; i++)
        {
            nodes[i] = new SpotNode(context);
            nodes[i].Bind(ServicesCommand.Endpoint);
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
        double with = await ServicesCommand.PercentAsync(time, cancellation);
        foreach (SpotNode node in nodes)
        {
            await node.DisposeAsync();
        }

        return Math.Max(0.01, with - without); // A figure of 0 would pass for none.
    }

    private static double Print(string what, string figure, IEnumerable<double> values)
    {
        Spread spread = Spread.Of([.. values])!.Value;
        Console.WriteLine(new ResultLine(PatternStack.Managed, what, "tcp", SpotFlood.Size, figure, spread.Median));
        Console.WriteLine($"  {spread.Min:0.00} to {spread.Max:0.00}");
        return spread.Median;
    }
}
