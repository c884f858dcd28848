using System.CommandLine;
using System.Globalization;
using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Scenarios.Measure;
using Net.Zlink.Scenarios.Patterns.Services;
using Net.Zlink.Scenarios.Runner;
using Samples;

namespace Net.Zlink.Scenarios.Http;

/// <summary>Is Kestrel as fast with connections of this library as with its own?</summary>
internal static class PlaintextCommand
{
    private const double LeastRatio = 1.0;
    private const double MicrosecondsPerSecond = 1e6;

    private static readonly TimeSpan s_limit = TimeSpan.FromSeconds(60);

    public static Command Create()
    {
        var command = new CostCommand(
            "plaintext",
            "A web application with UseZlinkTransport beside Kestrel's own transport, in alternating rounds. "
                + $"Exit code 1: its rate is less than {LeastRatio:0.0} x.",
            "... plaintext --connections 10000 --pipelined 16");
        Option<int> connections = command.Number("--connections", "Connections at once.", 64);
        Option<int> pipelined = command.Number("--pipelined", "Requests that a client sends together.", 1);
        Option<int> seconds = command.Number("--seconds", "Of one measurement; the warm-up takes as long.", 5);
        Option<int> rounds = command.Number("--rounds", "Rounds, each with both transports.", 5);
        return command.Runs(async (request, cancellation) =>
        {
            DescriptorLimit.Check(request.GetValue(connections));
            var rows = new List<(Row Sockets, Row Zlink)>();
            for (int round = 0; round < request.GetValue(rounds); round++)
            {
                // The first one of a round alternates, too: a machine gets slower or faster meanwhile.
                bool isZlinkFirst = round % 2 == 1;
                Row first = await RunAsync(request, isZlinkFirst);
                Row second = await RunAsync(request, !isZlinkFirst);
                rows.Add(isZlinkFirst ? (second, first) : (first, second));
            }

            return Print(rows);

            Task<Row> RunAsync(ParseResult request, bool isZlink) => MeasureAsync(
                isZlink ? PlaintextServerCommand.Zlink : PlaintextServerCommand.Sockets,
                request.GetValue(connections),
                request.GetValue(pipelined),
                TimeSpan.FromSeconds(request.GetValue(seconds)),
                cancellation);
        });
    }

    private static async Task<Row> MeasureAsync(
        string transport, int connections, int pipelined, TimeSpan time, CancellationToken cancellation)
    {
        (ChildProcess server, string line) = await ChildProcess.StartAsync(
            Self.StartInfo(inlineCompletions: false, PlaintextServerCommand.Name, "--transport", transport),
            PlaintextServerCommand.Bound, s_limit, cancellation);
        await using ChildProcess _ = server;
        int port = int.Parse(line.AsSpan(PlaintextServerCommand.Bound.Length), CultureInfo.InvariantCulture);
        await using PlaintextLoad load = await PlaintextLoad.StartAsync(port, connections, pipelined, cancellation);
        await Task.Delay(time, cancellation);
        double before = OtherProcess.CpuSeconds(server.Id);
        (double rate, double p99, long answers) = await load.MeasureAsync(time, cancellation);
        double cpu = (OtherProcess.CpuSeconds(server.Id) - before) * MicrosecondsPerSecond / answers;
        return new Row(rate, p99, cpu, OtherProcess.PeakMemory(server.Id));
    }

    private static bool Print(List<(Row Sockets, Row Zlink)> rows)
    {
        var table = new TextTable("", "sockets", "zlink", "ratio");
        double rate = Add("requests a second", static row => row.Rate, "0");
        Add("p99 of a group, us", static row => row.P99, "0");
        Add("processor time a request, us", static row => row.Cpu, "0.00");
        Add("most memory, MiB", static row => row.Megabytes, "0");
        Console.WriteLine(table);
        return rate >= LeastRatio;

        double Add(string what, Func<Row, double> figure, string format)
        {
            Spread ratio = Spread.Of(rows.Select(both => figure(both.Zlink) / figure(both.Sockets)))!.Value;
            table.Add(what,
                Spread.Of(rows.Select(both => figure(both.Sockets)))!.Value.ToString(format),
                Spread.Of(rows.Select(both => figure(both.Zlink)))!.Value.ToString(format),
                ratio.ToString("0.00"));
            return ratio.Median;
        }
    }

    private sealed record Row(double Rate, double P99, double Cpu, double Megabytes);
}
