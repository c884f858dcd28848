using System.CommandLine;
using System.Diagnostics;
using System.Globalization;
using Net.Zlink.Scenarios.Patterns.Services.Chaos;
using Net.Zlink.Services;

namespace Net.Zlink.Scenarios.Patterns.Services;

/// <summary>What services cost beside messages: a burst of registrations, and idle gateways.</summary>
internal static class ServicesCommand
{
    private const string Endpoint = CostCommand.Endpoint;
    private const string IdleService = "idle";
    private const int ReceiverCount = 10;

    // The bars of docs/benchmarks.md.
    private const int MaxLists = 110;
    private const double MaxMilliseconds = 200;

    private static readonly TimeSpan s_limit = TimeSpan.FromSeconds(30);

    public static Command Create()
    {
        var command = new CostCommand(
            "services",
            "Idle gateways, connected to one receiver: processor time that they add. Registrations in a burst: lists sent, and "
                + "milliseconds until every discovery has seen all. "
                + $"Exit code 1: a median is over {MaxLists} lists, "
                + $"{MaxMilliseconds:0} ms or {CostCommand.MaxIdlePercent:0.0} % of one processor. With --chaos instead: processes that "
                + "are killed, paused, drained and restarted in turn under load, and a check of each request and message.",
            "... services --chaos --minutes 10");
        Option<int> registrations = command.Number(
            "--registrations", $"Registrations of {ReceiverCount} receivers in one burst.", 1_000, ReceiverCount);
        Option<int> discoveries = command.Number("--discoveries", "Who sees them.", 10);
        Option<int> gateways = command.Number("--gateways", "Idle gateways.", 10);
        Option<int> seconds = command.Number("--seconds", "For how long.", 20);
        Option<int> rounds = command.Rounds();
        Option<bool> chaos = command.Switch("--chaos", "Kills, pauses, drains and restarts, instead of what things cost.");
        Option<double> minutes = command.Minutes("--minutes", "For how long, with --chaos.", 10);
        return command.Runs(async (request, cancellation) =>
        {
            if (request.GetValue(chaos))
            {
                return await ChaosCommand.RunAsync(TimeSpan.FromMinutes(request.GetValue(minutes)), cancellation);
            }

            double percent = CostCommand.Print("GATEWAYS_IDLE", "percent",
                [await IdleAsync(request.GetValue(gateways), TimeSpan.FromSeconds(request.GetValue(seconds)), cancellation)]);
            var bursts = new List<(long Lists, double Milliseconds)>();
            for (int i = 0; i < request.GetValue(rounds); i++)
            {
                bursts.Add(await BurstAsync(request.GetValue(registrations), request.GetValue(discoveries), cancellation));
            }

            double lists = CostCommand.Print("REGISTRY_BURST", "lists", bursts.Skip(1).Select(static burst => (double)burst.Lists));
            double time = CostCommand.Print("REGISTRY_BURST", "milliseconds", bursts.Skip(1).Select(static burst => burst.Milliseconds));
            return lists <= MaxLists && time <= MaxMilliseconds && percent <= CostCommand.MaxIdlePercent;
        });
    }

    private static async Task<(long Lists, double Milliseconds)> BurstAsync(int registrations, int viewers, CancellationToken cancellation)
    {
        await using var context = new ZlinkContext();
        await using var registry =
            new ServiceRegistry(context, new ServiceRegistryOptions { PublisherEndpoint = Endpoint, RouterEndpoint = Endpoint });
        registry.Start();
        var discoveries = new RegistryDirectory[viewers];
        for (int i = 0; i < viewers; i++)
        {
            discoveries[i] = new RegistryDirectory(context);
            discoveries[i].ConnectRegistry(registry.PublisherEndpoint);
        }

        var receivers = new ServiceReceiver[ReceiverCount];
        for (int i = 0; i < receivers.Length; i++)
        {
            receivers[i] = new ServiceReceiver(context);
            receivers[i].Bind(Endpoint);
            receivers[i].ConnectRegistry(registry.RouterEndpoint);
            await receivers[i].RegisterAsync(Name(-1), cancellationToken: cancellation);
        }

        // Connections stand, and each discovery has its first list.
        await Task.WhenAll(discoveries.Select(
            discovery => discovery.WaitForAsync(Name(-1), ReceiverCount, cancellation).AsTask()));
        long listsBefore = registry.GetSnapshot().ListsSent;
        long start = Stopwatch.GetTimestamp();
        for (int i = 0; i < registrations; i++)
        {
            _ = receivers[i % ReceiverCount].Register(Name(i));
        }

        while (discoveries.Any(discovery => discovery.GetServices().Count <= registrations))
        {
            await CostCommand.DelayAsync(start, s_limit, "Not all registrations were seen", cancellation);
        }

        double milliseconds = Stopwatch.GetElapsedTime(start).TotalMilliseconds;
        long lists = registry.GetSnapshot().ListsSent - listsBefore;
        foreach (IAsyncDisposable part in (IEnumerable<IAsyncDisposable>)[.. receivers, .. discoveries])
        {
            await part.DisposeAsync();
        }

        return (lists, milliseconds);
    }

    private static string Name(int number) => string.Create(CultureInfo.InvariantCulture, $"service{number}");

    private static async Task<double> IdleAsync(int count, TimeSpan time, CancellationToken cancellation)
    {
        await using var context = new ZlinkContext();
        await using var receiver = new ServiceReceiver(context);
        var directory = new StaticDirectory(new ServiceInstance(IdleService, receiver.Bind(Endpoint)));
        double without = await CostCommand.IdlePercentAsync(time, cancellation);
        var gateways = new ServiceGateway[count];
        for (int i = 0; i < count; i++)
        {
            gateways[i] = new ServiceGateway(context, directory);
            await gateways[i].GetClient(IdleService).WaitUntilReadyAsync(cancellationToken: cancellation);
        }

        double with = await CostCommand.IdlePercentAsync(time, cancellation);
        foreach (ServiceGateway gateway in gateways)
        {
            await gateway.DisposeAsync();
        }

        return CostCommand.AddedPercent(without, with);
    }
}
