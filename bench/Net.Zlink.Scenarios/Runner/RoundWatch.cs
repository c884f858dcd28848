using System.Diagnostics;
using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Benchmarks.Profile;
using Net.Zlink.Scenarios.Evidence;
using Net.Zlink.Scenarios.Load;
using Net.Zlink.Scenarios.Measure;
using Net.Zlink.Scenarios.Results;
using Net.Zlink.Scenarios.Settings;

namespace Net.Zlink.Scenarios.Runner;

/// <summary>What the server and the machine used while the client measured; the client says when that begins and ends.</summary>
internal sealed class RoundWatch(ServerProcess? server, RuntimeCounters? counters, TraceRequest? trace, ScenarioSettings settings)
{
    private const double KilobytesPerMegabyte = 1024;
    private const double MicrosecondsPerSecond = 1e6;
    private const double Percent = 100;

    // Attaching and reading out the method names at the end take part of the window.
    private const double TracedShare = 0.8;

    private readonly double _memoryBefore = Memory(server);
    private Use _atStart;
    private Use _atEnd;
    private Task _tracing = Task.CompletedTask;
    private RuntimeEvidence? _evidence;

    public void On(LoadProgress progress)
    {
        if (!progress.IsPhaseStart)
        {
            return;
        }

        switch (progress.Phase)
        {
            case LoadPhase.Measure:
                _atStart = Use.Now(server);
                counters?.Begin();
                if (trace is not null && server is not null)
                {
                    _tracing = Recording.TakeAsync(server.Id, TimeSpan.FromSeconds(settings.MeasureSeconds * TracedShare),
                        trace.Allocations, trace.File, CancellationToken.None);
                }

                break;
            case LoadPhase.Drain:
                _atEnd = Use.Now(server);
                _evidence = counters?.End();
                break;
            default:
                break;
        }
    }

    /// <summary>Waits for the trace, if one is taken.</summary>
    public Task EndAsync() => _tracing;

    public ServerDetail? Describe(LoadReport report)
    {
        if (server is null)
        {
            return null;
        }

        double cpu = Math.Max(0, _atEnd.ServerCpu - _atStart.ServerCpu);
        double replies = report.Row.Throughput * report.Client.MeasuredSeconds;
        long dropped = server.Status.Latest?.Dropped ?? -1;
        return new ServerDetail
        {
            ProcessId = server.Id,
            CpuSeconds = Math.Round(cpu, 2),
            CpuMicrosecondsPerMessage = settings.InFlight == 0 || replies == 0 ? 0 : cpu * MicrosecondsPerSecond / replies,

            // Of connections that stand, not of the message that each is sent at the end.
            PeakMegabytes = settings.Scenario == Scenario.S1 && _atEnd.ServerPeak > 0 ? _atEnd.ServerPeak
                : OtherProcess.PeakMemory(server.Id),
            KilobytesPerConnection = settings.Scenario == Scenario.S1 && _atEnd.ServerMemory > 0
                ? (_atEnd.ServerMemory - _memoryBefore) * KilobytesPerMegabyte / Math.Max(1, report.Row.ConnectSuccess) : null,
            IdlePercent = settings.Scenario == Scenario.S1 && report.Client.MeasuredSeconds > 0
                ? Math.Round(cpu * Percent / report.Client.MeasuredSeconds, 2) : null,
            Dropped = dropped < 0 ? null : dropped,
            Samples = server.Status.Samples,
            Runtime = _evidence,
        };
    }

    /// <summary>What neither server nor client nor this program used of the machine, in percent of all of it; null if the system does not
    /// tell.</summary>
    public double? OthersPercent(LoadReport report)
    {
        double elapsed = Stopwatch.GetElapsedTime(_atStart.At, _atEnd.At).TotalSeconds;
        double others = _atEnd.MachineBusy - _atStart.MachineBusy - (_atEnd.ServerCpu - _atStart.ServerCpu)
            - (_atEnd.OwnCpu - _atStart.OwnCpu) - report.Client.CpuSeconds;
        return elapsed <= 0 || !OperatingSystem.IsLinux() ? null
            : Math.Round(Math.Max(0, others) * Percent / (elapsed * Environment.ProcessorCount), 2);
    }

    private static double Memory(ServerProcess? server) => server is null ? 0 : OtherProcess.Memory(server.Id);

    private readonly record struct Use(long At, double ServerCpu, double ServerMemory, double ServerPeak, double OwnCpu, double MachineBusy)
    {
        public static Use Now(ServerProcess? server) => new(
            Stopwatch.GetTimestamp(),
            server is null ? 0 : OtherProcess.CpuSeconds(server.Id),
            Memory(server),
            server is null ? 0 : OtherProcess.PeakMemory(server.Id),
            Environment.CpuUsage.TotalTime.TotalSeconds,
            OperatingSystem.IsLinux() ? ProcFile.BusySeconds() : 0);
    }
}

/// <summary>A trace to take of a server.</summary>
internal sealed record TraceRequest(FileInfo File, bool Allocations);
