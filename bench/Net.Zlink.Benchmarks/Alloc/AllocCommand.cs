using System.CommandLine;
using System.Text.Json;
using Net.Zlink.Benchmarks.Common;

namespace Net.Zlink.Benchmarks.Alloc;

/// <summary>Proves that a message costs no allocation: exit code 1 if it does.</summary>
internal static class AllocCommand
{
    public static Command Create()
    {
        var messages = new Option<int>("--messages") { Description = "Messages measured per case.", DefaultValueFactory = _ => 1_000_000 };
        var warmUp = new Option<int>("--warm-up")
        {
            Description = "Messages before that, not measured.",
            DefaultValueFactory = _ => 200_000
        };
        var only = new Option<string?>("--only") { Description = "Only cases whose name contains this text, e.g. 'pull' or 'ping-pong'." };
        Option<int> mark = new Option<int>("--hwm")
        {
            Description = "High-water marks of the ZMP sockets: so low that their queues reach them while warming up, since a queue that "
                + "grows longer than ever before makes the pool grow.",
            DefaultValueFactory = _ => 1_000,
        }.AtLeast(1);
        Option<string> pool = AllocPools.CreateOption();
        var inline = new Option<bool>("--inline-completions")
        {
            Description =
            "Start the measured processes with the runtime's inline completions on."
        };
        var json = new Option<FileInfo?>("--json") { Description = "Also write the figures to this file." };
        var command = new ExampleCommand(
            "alloc",
            "Allocation proof: bytes per message and collections of a STREAM server, of a client, of pairs of ZMP sockets, of publishers "
                + "with several peers, of gateways and of SPOT nodes, each measured in a process of its own. Exit code 1 above "
                + "0.1 byte per message (0.5 where writes over tls, ws and wss wait, the base library's own) or at any Gen2 collection.",
            "dotnet run -c Release --project bench/Net.Zlink.Benchmarks -- alloc",
            "dotnet run -c Release --project bench/Net.Zlink.Benchmarks -- alloc --only ping-pong",
            "dotnet run -c Release --project bench/Net.Zlink.Benchmarks -- alloc --only \"PAIR inproc\"",
            "dotnet run -c Release --project bench/Net.Zlink.Benchmarks -- alloc --messages 100000 --warm-up 50000      (short, for CI)");
        command.Add(messages);
        command.Add(warmUp);
        command.Add(only);
        command.Add(mark);
        command.Add(pool);
        command.Add(inline);
        command.Add(json);
        messages.Validators.Add(result => Validate(result, result.GetValueOrDefault<int>()));
        warmUp.Validators.Add(result => Validate(result, result.GetValueOrDefault<int>()));
        command.SetAction((request, cancellation) => RunAsync(
            new AllocRun(request.GetValue(warmUp), request.GetValue(messages), request.GetValue(mark), request.GetValue(inline),
                request.GetValue(pool)!), request.GetValue(only) ?? "", request.GetValue(json), cancellation));
        return command;
    }

    private static void Validate(System.CommandLine.Parsing.OptionResult result, int value)
    {
        // Below this a server's few bytes of its own, such as those of the mark itself, pass for the messages'.
        const int Fewest = 20_000;
        if (value < Fewest)
        {
            result.AddError($"{result.Option.Name} must be at least {Fewest}.");
        }
    }

    private static async Task<int> RunAsync(AllocRun run, string only, FileInfo? json, CancellationToken cancellation)
    {
        OutputCheck.File(json);
        var machine = new Machine();
        Console.WriteLine(machine);
        Console.WriteLine($"{run.WarmUp:N0} messages to warm up, then {run.Messages:N0} measured by GC.GetTotalAllocatedBytes(true); "
            + $"inline completions {(run.InlineCompletions ? "on" : "off")}, pool {run.Pool}");
        Console.WriteLine();

        List<AllocResult> servers = await MeasureAsync("server", AllocCase.ForServer, only, run.MeasureServerAsync, cancellation);
        List<AllocResult> clients = await MeasureAsync(
            "client (ConnectAsync)", AllocCase.ForClient, only, run.MeasureClientAsync, cancellation);
        List<AllocResult> sockets = await MeasureAsync(
            $"sockets (both ends, HWM {run.HighWaterMark:N0})", ZmpAllocCase.All, only, run.MeasureSocketsAsync, cancellation);
        List<AllocResult> fanouts = await MeasureAsync(
            $"fan-out (all ends, HWM {run.HighWaterMark:N0})", FanoutAllocCase.All, only, run.MeasureFanoutAsync, cancellation);
        List<AllocResult> services = await MeasureAsync(
            $"services (gateway and receiver, HWM {run.HighWaterMark:N0})", ServiceAllocCase.All, only, run.MeasureServicesAsync,
            cancellation);
        List<AllocResult> spot = await MeasureAsync(
            $"SPOT nodes (publishing and subscribing, HWM {run.HighWaterMark:N0})", SpotAllocCase.All, only, run.MeasureSpotAsync,
            cancellation);
        if (servers.Count + clients.Count + sockets.Count + fanouts.Count + services.Count + spot.Count == 0)
        {
            throw new RequestException(
                $"No case is named like '{only}'. There are: "
                + $"{string.Join("; ", [.. AllocCase.ForServer, .. ZmpAllocCase.All, .. FanoutAllocCase.All, .. ServiceAllocCase.All,
                    .. SpotAllocCase.All])}");
        }

        if (json is not null)
        {
            await File.WriteAllTextAsync(json.FullName,
                JsonSerializer.Serialize(new { machine, run, servers, clients, sockets, fanouts }, JsonOutput.Options), cancellation);
        }

        bool good = servers.Concat(clients).Concat(sockets).Concat(fanouts).Concat(services).Concat(spot).All(result => result.IsGood);
        Console.WriteLine(good ? "alloc: every case met" : "alloc: missed");
        return good ? 0 : Commands.Failed;
    }

    private static async Task<List<AllocResult>> MeasureAsync<T>(
        string who, IReadOnlyList<T> cases, string only, Func<T, CancellationToken, Task<AllocResult>> measure,
            CancellationToken cancellation)
        where T : notnull
    {
        var results = new List<AllocResult>();
        var table = new TextTable(who, "bytes/message", "of it pool growth", "gen0", "gen1", "gen2", "receives that waited",
            "sends that waited", "msg/s", "verdict");
        foreach (T one in cases.Where(c => c.ToString()!.Contains(only, StringComparison.OrdinalIgnoreCase)))
        {
            Console.Error.WriteLine($"{who}: {one} ...");
            AllocResult result = await measure(one, cancellation);
            AllocMark used = result.Used;
            results.Add(result);
            table.Add(
                result.Case, $"{result.BytesPerMessage:0.000}", $"{(double)used.PoolBytes / used.Messages:0.000}", $"{used.Gen0}",
                    $"{used.Gen1}", $"{used.Gen2}", $"{used.ReceiveWaits:N0}", $"{used.SendWaits:N0}",
                $"{result.MessagesPerSecond:N0}", result.IsGood ? "met" : "missed");
        }

        if (results.Count > 0)
        {
            Console.WriteLine(table);
            foreach (AllocResult grown in results.Where(result => result.Used.PoolArrays.Count > 0))
            {
                Console.WriteLine($"pool growth, {grown.Case}: {grown.Used.PoolGrowth} B; {grown.Used.PoolRejected} arrays came back and "
                    + $"were not kept");
            }

            Console.WriteLine();
        }

        return results;
    }
}
