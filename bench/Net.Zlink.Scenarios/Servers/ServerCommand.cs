using System.CommandLine;
using System.Globalization;
using System.Text.Json;
using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Scenarios.Measure;
using Net.Zlink.Scenarios.Results;
using Net.Zlink.Scenarios.Settings;

namespace Net.Zlink.Scenarios.Servers;

/// <summary>One echo server alone, until it is told to end.</summary>
internal static class ServerCommand
{
    private static readonly TimeSpan StatusInterval = TimeSpan.FromSeconds(1);

    private static readonly Option<string> Stack =
        new Option<string>("--stack") { Description = "Which server.", DefaultValueFactory = _ => Stacks.NetZlink }.AcceptOnlyFromAmong(
        [.. Stacks.Served]);

    private static readonly Option<string> Endpoint =
        new("--endpoint")
        {
            Description = "Where it listens: transport://address:port; port 0 takes a free one.",
            DefaultValueFactory = _ => "tcp://127.0.0.1:0"
        };

    private static readonly Option<int> Backlog =
        new("--backlog") { Description = "The queue of connections to accept.", DefaultValueFactory = _ => new ScenarioSettings().Backlog };

    private static readonly Option<int> HighWaterMark =
        new("--hwm")
        {
            Description = "Messages that may be queued per connection and direction.",
            DefaultValueFactory = _ => new ScenarioSettings().HighWaterMark
        };

    private static readonly Option<int> Shards =
        new("--shards")
        {
            Description = "Shards of net-zlink, I/O threads of native; the others have none.",
            DefaultValueFactory = _ => Environment.ProcessorCount
        };

    private static readonly Option<bool> Child =
        new("--child") { Description = "Report to the program that started it, and end with it.", Hidden = true };

    public static Command Create()
    {
        var command = new ExampleCommand(
            "server",
            "Starts one echo server and prints READY and its endpoint; Ctrl-C ends it.",
            "dotnet run -c Release --project bench/Net.Zlink.Scenarios -- server --stack net-zlink --endpoint tcp://127.0.0.1:5555",
            "... server --stack kestrel --endpoint wss://127.0.0.1:5556/",
            "... client s2 --connect tcp://127.0.0.1:5555 --ccu 1000        (in another terminal)");
        foreach (Option option in new Option[] { Stack, Endpoint, Backlog.AtLeast(1), HighWaterMark.AtLeast(1),
            Shards.AtLeast(1).AtMost(ServerSettings.MostShards), Child })
        {
            command.Add(option);
        }

        command.SetAction(RunAsync);
        return command;
    }

    public static IReadOnlyList<string> Arguments(string stack, string endpoint, ScenarioSettings settings) =>
    [
        "server", "--child", "--stack", stack, "--endpoint", endpoint,
        "--backlog", settings.Backlog.ToString(CultureInfo.InvariantCulture),
        "--hwm", settings.HighWaterMark.ToString(CultureInfo.InvariantCulture),
        "--shards", settings.Shards.ToString(CultureInfo.InvariantCulture),
    ];

    private static async Task<int> RunAsync(ParseResult request, CancellationToken cancellation)
    {
        var settings = new ServerSettings(request.GetValue(Endpoint)!, request.GetValue(Backlog), request.GetValue(HighWaterMark),
            request.GetValue(Shards));
        await using IEchoServer server = await Stacks.StartAsync(request.GetValue(Stack)!, settings);
        Console.WriteLine(ChildLines.Ready + server.Endpoint);
        if (request.GetValue(Child))
        {
            await ReportUntilParentEndsAsync(server, cancellation);
        }
        else
        {
            try
            {
                await Task.Delay(Timeout.InfiniteTimeSpan, cancellation);
            }
            catch (OperationCanceledException)
            {
                Console.Error.WriteLine("Ending.");
            }
        }

        return 0;
    }

    /// <summary>The end of standard input is the parent's word to end, or its own end.</summary>
    private static async Task ReportUntilParentEndsAsync(IEchoServer server, CancellationToken cancellation)
    {
        Task input = Task.Factory.StartNew(static () => Console.In.ReadToEnd(), CancellationToken.None, TaskCreationOptions.LongRunning,
            TaskScheduler.Default);
        var sampler = new ProcessSampler();
        using var timer = new PeriodicTimer(StatusInterval);
        try
        {
            Task<bool> tick = timer.WaitForNextTickAsync(cancellation).AsTask();
            while (await Task.WhenAny(input, tick) != input)
            {
                await tick;
                ServerCounts counts = server.GetCounts();
                ProcessSample sample = sampler.Take(counts.Connections, counts.Dropped ?? -1);
                Console.WriteLine(ChildLines.Status + JsonSerializer.Serialize(sample, ChildJson.Default.ProcessSample));
                tick = timer.WaitForNextTickAsync(cancellation).AsTask();
            }
        }
        catch (OperationCanceledException)
        {
            // Ctrl-C reaches the whole group of processes.
        }
    }
}
