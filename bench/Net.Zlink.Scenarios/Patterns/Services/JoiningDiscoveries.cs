using System.CommandLine;
using System.Diagnostics;
using System.Globalization;
using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Scenarios.Patterns.Running;
using Net.Zlink.Services;
using Samples;

namespace Net.Zlink.Scenarios.Patterns.Services;

/// <summary>Discoveries that join at once get the list of a registry in another process, whose processor time is taken.</summary>
internal static class JoiningDiscoveries
{
    private const string RegistryName = "registry-run";
    private const string Endpoint = CostCommand.Endpoint;
    private const int ReceiverCount = 10;

    // The bars of docs/benchmarks.md.
    private const double MaxSeconds = 2;

    private static readonly TimeSpan s_limit = TimeSpan.FromSeconds(60);

    public static Command Create()
    {
        var command = new CostCommand(
            "joining",
            "Discoveries that join a registry at once: lists for each, and processor time of the registry, which has a process of its "
                + $"own. Exit code 1: more than one list for each, or more than {MaxSeconds:0} s.");
        Option<int> entries = command.Number("--entries", "Entries of the list.", 10_000);
        Option<int> joining = command.Number("--joining", "Discoveries that join at once.", 200);
        return command.Runs(async (request, cancellation) =>
        {
            (double listsEach, double seconds) = await RunAsync(request.GetValue(entries), request.GetValue(joining), cancellation);
            Console.WriteLine(new ResultLine(PatternStack.Managed, "REGISTRY_JOIN", "tcp", 0, "lists_each", listsEach));
            Console.WriteLine(new ResultLine(PatternStack.Managed, "REGISTRY_JOIN", "tcp", 0, "cpu_seconds", seconds));
            return listsEach <= 1 && seconds <= MaxSeconds;
        });
    }

    /// <summary>The program of the other process: answers each line with the lists that it has sent, and its processor time.</summary>
    public static Command CreateRegistry()
    {
        var command = new ExampleCommand(RegistryName, "A registry in a process of its own. 'joining' runs it.", $"... {RegistryName}");
        command.SetAction(async (_, cancellation) =>
        {
            await using var context = new ZlinkContext();
            await using var registry = new ServiceRegistry(context, new ServiceRegistryOptions
            {
                PublisherEndpoint = Endpoint,
                RouterEndpoint = Endpoint,
                BroadcastInterval = TimeSpan.FromHours(1), // No list but those that joining discoveries cause.
            });
            registry.Start();
            Console.WriteLine($"{registry.PublisherEndpoint} {registry.RouterEndpoint}");
            while (await Console.In.ReadLineAsync(cancellation) is not null)
            {
                double seconds = Environment.CpuUsage.TotalTime.TotalSeconds; // Before the snapshot, which copies all entries.
                long lists = registry.GetSnapshot().ListsSent;
                Console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{lists} {seconds}"));
            }

            return 0;
        });
        return command;
    }

    /// <summary>Sockets that only receive stand for the discoveries.</summary>
    /// <returns>How many lists the registry sent to each, and the processor time of the registry's process.</returns>
    private static async Task<(double ListsEach, double CpuSeconds)> RunAsync(int entries, int joining, CancellationToken cancellation)
    {
        await using ChildProcess registry = ChildProcess.Start(Self.StartInfo(inlineCompletions: false, RegistryName));
        string[] endpoints = await ReadAsync(registry, cancellation);
        await using var context = new ZlinkContext();

        // One that is there before the first entry gets broadcasts alone: when it has seen all entries, no other list is on its way.
        await using var early = new RegistryDirectory(context);
        early.ConnectRegistry(endpoints[0]);
        long start = Stopwatch.GetTimestamp();
        while (early.GetRegistries()[0].LastListAt is null)
        {
            await CostCommand.DelayAsync(start, s_limit, "The registry sent no list", cancellation);
        }

        var receivers = new ServiceReceiver[ReceiverCount];
        for (int i = 0; i < receivers.Length; i++)
        {
            receivers[i] = new ServiceReceiver(context);
            receivers[i].Bind(Endpoint);
            receivers[i].ConnectRegistry(endpoints[1]);
        }

        for (int i = 0; i < entries; i++)
        {
            _ = receivers[i % receivers.Length].Register(string.Create(CultureInfo.InvariantCulture, $"service{i}"));
        }

        while (early.GetServices().Count < entries)
        {
            await CostCommand.DelayAsync(start, s_limit, "Not all entries were registered", cancellation);
        }

        Answer before = await AskAsync(registry, cancellation);
        SubSocket[] sockets = [.. Enumerable.Range(0, joining).Select(_ => context.CreateSub())];
        foreach (SubSocket socket in sockets)
        {
            socket.Subscribe("");
            socket.Connect(endpoints[0]);
        }

        foreach (SubSocket socket in sockets)
        {
            using Message list = await socket.ReceiveAsync(cancellation);
        }

        Answer after = await AskAsync(registry, cancellation);
        foreach (IAsyncDisposable part in (IEnumerable<IAsyncDisposable>)[.. sockets, .. receivers])
        {
            await part.DisposeAsync();
        }

        return ((after.Lists - before.Lists) / (double)joining, after.CpuSeconds - before.CpuSeconds);
    }

    private static async Task<Answer> AskAsync(ChildProcess registry, CancellationToken cancellation)
    {
        registry.Send("?");
        string[] words = await ReadAsync(registry, cancellation);
        return new Answer(long.Parse(words[0], CultureInfo.InvariantCulture), double.Parse(words[1], CultureInfo.InvariantCulture));
    }

    private static async Task<string[]> ReadAsync(ChildProcess registry, CancellationToken cancellation) =>
        (await registry.ReadLineAsync("", s_limit, cancellation))?.Split(' ')
            ?? throw new InvalidOperationException($"The registry's process says nothing: {registry.LastErrors}");

    private readonly record struct Answer(long Lists, double CpuSeconds);
}
