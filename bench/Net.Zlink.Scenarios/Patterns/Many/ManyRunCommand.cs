using System.CommandLine;
using System.Diagnostics;
using System.Globalization;
using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Scenarios.Patterns.Running;

namespace Net.Zlink.Scenarios.Patterns.Many;

/// <summary>Some DEALERs send to one ROUTER over tcp, in this process.</summary>
internal static class ManyRunCommand
{
    public const string Name = "many-run";
    public const string CpuFigure = "cpu";

    private const double MicrosecondsPerSecond = 1_000_000;

    public static Command Create()
    {
        Option<int> dealers = new Option<int>("--dealers") { Description = "How many.", DefaultValueFactory = _ => 1_000 }.AtLeast(1);
        Option<int> messages = ManyCommand.Messages();
        Option<int> warmUp = ManyCommand.WarmUp();
        Option<int> size = ManyCommand.Size();
        Option<int> burst = ManyCommand.Burst();
        var command = new ExampleCommand(
            Name,
            "Some DEALERs send to one ROUTER over tcp: one thread sends, the dealers taking turns, and one receives. 'many' runs it; "
                + "also for profilers.",
            $"dotnet run -c Release --project bench/Net.Zlink.Scenarios -- {Name} --dealers 1000");
        foreach (Option option in new Option[] { dealers, messages, warmUp, size, burst })
        {
            command.Add(option);
        }

        command.SetAction(request =>
        {
            Run(request.GetValue(dealers), request.GetValue(messages), request.GetValue(warmUp), request.GetValue(size),
                request.GetValue(burst));
            return 0;
        });
        return command;
    }

    private static void Run(int count, int messages, int warmUp, int size, int burst)
    {
        using var context = new ZlinkContext();
        using RouterSocket router = context.CreateRouter();
        string endpoint = router.Bind("tcp://127.0.0.1:*");
        var dealers = new DealerSocket[count];
        for (int i = 0; i < count; i++)
        {
            dealers[i] = context.CreateDealer();
            dealers[i].Connect(endpoint);
        }

        // One message of each: then all are connected.
        var load = new DealerLoad(router, dealers, new byte[size], burst: 1);
        load.Run(count);
        Settling.Rest();
        load = new DealerLoad(router, dealers, new byte[size], burst);
        var compilation = new Compilation(Compilation.DefaultLimit);
        do
        {
            load.Run(warmUp);
        }
        while (compilation.GoesOn);

        TimeSpan before = Environment.CpuUsage.TotalTime;
        long start = Stopwatch.GetTimestamp();
        load.Run(messages);
        double seconds = Stopwatch.GetElapsedTime(start).TotalSeconds;
        TimeSpan used = Environment.CpuUsage.TotalTime - before;
        Print(count, size, ResultLines.Throughput, messages / seconds);
        Print(count, size, CpuFigure, used.TotalSeconds * MicrosecondsPerSecond / messages);
    }

    private static void Print(int count, int size, string figure, double value) =>
        Console.WriteLine(string.Create(CultureInfo.InvariantCulture,
            $"{ResultLines.Prefix}{PatternStack.Managed},DEALERS_{count},tcp,{size},{figure},{value:F4}"));
}
