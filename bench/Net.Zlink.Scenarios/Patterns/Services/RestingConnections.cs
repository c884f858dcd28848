using System.CommandLine;
using System.Diagnostics;
using System.Globalization;
using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Scenarios.Runner;
using Net.Zlink.Services;
using Samples;

namespace Net.Zlink.Scenarios.Patterns.Services;

/// <summary>Connections of a gateway on which nothing happens but heartbeats, to receivers in another process.</summary>
internal static class RestingConnections
{
    private const string ReceiverName = "receiver-run";
    private const int PerService = 100;

    // The bar of docs/benchmarks.md.
    private const double MaxPercent = 1;

    private static readonly TimeSpan s_limit = TimeSpan.FromSeconds(120);

    public static Command Create()
    {
        var command = new CostCommand(
            "heartbeats",
            "A gateway with many connections that rest: processor time that heartbeats add, at its side and at that of the receivers. "
                + $"Exit code 1: more than {MaxPercent:0} % of one processor at either side.");
        Option<int> connections = command.Number("--connections", "Connections of the gateway.", 10_000);
        Option<int> seconds = command.Number("--seconds", "For how long: one that rests is asked each 40 s.", 40);
        return command.Runs(async (request, cancellation) =>
        {
            int count = request.GetValue(connections);
            DescriptorLimit.Check(count);
            var time = TimeSpan.FromSeconds(request.GetValue(seconds));
            (double Ours, double Theirs) without = await RunAsync(
                count, new ServiceGatewayOptions { Socket = { HeartbeatInterval = TimeSpan.Zero } }, time, cancellation);
            (double Ours, double Theirs) with = await RunAsync(count, new ServiceGatewayOptions(), time, cancellation);
            double ours = CostCommand.Print("GATEWAY_HEARTBEATS", "percent", [CostCommand.AddedPercent(without.Ours, with.Ours)]);
            double theirs = CostCommand.Print("RECEIVER_HEARTBEATS", "percent", [CostCommand.AddedPercent(without.Theirs, with.Theirs)]);
            return ours <= MaxPercent && theirs <= MaxPercent;
        });
    }

    /// <summary>The program of the other process: answers each line with its processor time.</summary>
    public static Command CreateReceiver()
    {
        var command = new ExampleCommand(
            ReceiverName, "A receiver in a process of its own. 'heartbeats' runs it.", $"... {ReceiverName}");
        command.SetAction(async (_, cancellation) =>
        {
            await using var context = new ZlinkContext();
            await using var receiver = new ServiceReceiver(context);
            Console.WriteLine(receiver.Bind("tcp://0.0.0.0:*"));
            while (await Console.In.ReadLineAsync(cancellation) is not null)
            {
                Console.WriteLine(Environment.CpuUsage.TotalTime.TotalSeconds.ToString(CultureInfo.InvariantCulture));
            }

            return 0;
        });
        return command;
    }

    /// <returns>Percent of one processor.</returns>
    private static async Task<(double Ours, double Theirs)> RunAsync(
        int connections, ServiceGatewayOptions options, TimeSpan time, CancellationToken cancellation)
    {
        await using ChildProcess receiver = ChildProcess.Start(Self.StartInfo(inlineCompletions: false, ReceiverName));
        string bound = await ReadAsync(receiver, cancellation);
        string port = bound[bound.LastIndexOf(':')..];
        await using var context = new ZlinkContext();
        var directory = new StaticDirectory();
        await using var gateway = new ServiceGateway(context, directory, options);

        // One listener stands for many: each address of the loopback network is an endpoint of its own.
        var clients = new List<ServiceClient>();
        foreach (int[] numbers in Enumerable.Range(0, connections).Chunk(PerService))
        {
            string service = string.Create(CultureInfo.InvariantCulture, $"service{clients.Count}");
            directory.SetService(service, [.. numbers.Select(number => new ServiceInstance(service,
                string.Create(CultureInfo.InvariantCulture, $"tcp://127.1.{number / 250}.{1 + (number % 250)}{port}")))]);
            clients.Add(gateway.GetClient(service));
        }

        long start = Stopwatch.GetTimestamp();
        while (clients.Sum(static client => client.ReadyCount) < connections)
        {
            await CostCommand.DelayAsync(start, s_limit, "Not all connections stood", cancellation);
        }

        await Task.Delay(TimeSpan.FromSeconds(15), cancellation); // The first pauses are shorter.
        double theirs = await AskAsync(receiver, cancellation);
        TimeSpan ours = Environment.CpuUsage.TotalTime;
        long from = Stopwatch.GetTimestamp();
        await Task.Delay(time, cancellation);
        double passed = Stopwatch.GetElapsedTime(from).TotalSeconds;
        double percent = (Environment.CpuUsage.TotalTime - ours).TotalSeconds / passed * 100;
        double percentOfTheirs = (await AskAsync(receiver, cancellation) - theirs) / passed * 100;
        int ready = clients.Sum(static client => client.ReadyCount);
        Console.WriteLine(string.Create(CultureInfo.InvariantCulture,
            $"  {ready} connections, heartbeats each {options.Socket.HeartbeatInterval.TotalSeconds} s: {percent:0.00} % at the gateway, "
            + $"{percentOfTheirs:0.00} % at the receiver"));
        return (percent, percentOfTheirs);
    }

    private static async Task<double> AskAsync(ChildProcess receiver, CancellationToken cancellation)
    {
        receiver.Send("?");
        return double.Parse(await ReadAsync(receiver, cancellation), CultureInfo.InvariantCulture);
    }

    private static async Task<string> ReadAsync(ChildProcess receiver, CancellationToken cancellation) =>
        await receiver.ReadLineAsync("", s_limit, cancellation)
            ?? throw new InvalidOperationException($"The receiver's process says nothing: {receiver.LastErrors}");
}
