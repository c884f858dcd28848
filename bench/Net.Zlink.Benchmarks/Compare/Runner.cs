using System.Diagnostics;
using System.Net.Sockets;
using Net.Zlink.Benchmarks.Common;

namespace Net.Zlink.Benchmarks.Compare;

/// <summary>Runs servers in turn against the load, in rounds.</summary>
internal sealed class Runner(LoadCommand? load, IReadOnlyList<ServerSpec> servers, int rounds, int discarded)
{
    // What a server does on its first breath (a .NET one compiles) is not what is measured.
    private static readonly TimeSpan AfterStart = TimeSpan.FromMilliseconds(200);

    public async Task<List<Run>> RunAsync(LoadCase what, CancellationToken cancellation)
    {
        var runs = new List<Run>();
        for (int round = 1 - discarded; round <= rounds; round++)
        {
            // Back and forth: what drifts (heat, neighbours) then falls on all alike.
            IEnumerable<ServerSpec> order = round % 2 == 0 ? servers.Reverse() : servers;
            foreach (ServerSpec server in order)
            {
                Run run = await RunAsync(server, what, round, cancellation);
                Console.Error.WriteLine($"{what.Name} {(round > 0 ? $"round {round} of {rounds}"
                    : "round not counted")}, {server.Name}: {Describe(run)}");
                if (round > 0)
                {
                    runs.Add(run);
                }
            }
        }

        return runs;
    }

    private static string Describe(Run run) =>
        run.Fault ?? string.Join(", ", Metric.All.Where(metric => metric.Of(run) is not null)
            .Select(metric => $"{metric.Title} {metric.Of(run)!.Value.ToString(metric.Format, null)}"));

    private async Task<Run> RunAsync(ServerSpec spec, LoadCase what, int round, CancellationToken cancellation)
    {
        await using RunningServer server = await RunningServer.StartAsync(spec, cancellation);
        await Task.Delay(AfterStart, cancellation);
        double busyBefore = ProcFile.BusySeconds();
        TimeSpan ownBefore = Environment.CpuUsage.TotalTime;
        long start = Stopwatch.GetTimestamp();
        LoadResult? result = null;
        IdleResult? idle = null;
        string? fault = null;
        if (what.IsIdle)
        {
            try
            {
                (idle, fault) = await IdleProbe.RunAsync(server, what.Connections, cancellation);
            }
            catch (Exception e) when (e is SocketException or IOException)
            {
                fault = $"a connection could not be made, or ended: {e.Message}";
            }
        }
        else
        {
            (result, fault) = await load!.RunAsync(server.Port, what, cancellation);
        }

        if (server.HasExited)
        {
            return new Run { Server = spec.Name, Round = round, Fault = $"the server ended during the run: {server.LastErrors}" };
        }

        double elapsed = Stopwatch.GetElapsedTime(start).TotalSeconds;
        double busy = ProcFile.BusySeconds() - busyBefore;
        double cpu = ProcFile.CpuSeconds(server.Id);

        // This program is no other: in the idle case it makes the connections itself.
        double own = (Environment.CpuUsage.TotalTime - ownBefore).TotalSeconds;
        double others = Math.Max(0, busy - cpu - own - (result?.ClientCpuSeconds ?? 0));
        return new Run
        {
            Server = spec.Name,
            Round = round,
            Load = result,
            Idle = idle,
            CpuSeconds = cpu,
            PeakMemory = ProcFile.PeakMemory(server.Id),
            OthersPercent = others * 100 / (elapsed * Environment.ProcessorCount),
            Fault = fault,
        };
    }
}
