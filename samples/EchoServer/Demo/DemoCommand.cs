using System.Globalization;
using System.Net;
using Net.Zlink;
using Samples;

namespace EchoServer.Demo;

/// <summary>Starts the server on a free port and clients against it, and tells how fast it was and whether every reply was right.</summary>
internal static class DemoCommand
{
    private const string AnyLocalPort = "tcp://127.0.0.1:0";

    /// <summary>Exit code: 0 only if every reply was checked and right, 1 if one was not, or if a signal came first.</summary>
    public static async Task<int> RunAsync(Options options, TimeSpan perStep)
    {
        if (DescriptorLimit.Complaint(DemoPlan.MostConnections) is string complaint)
        {
            return Sample.Report(Problem.Program, complaint);
        }

        using var stop = new CancellationTokenSource();
        using var signals = new StopSignals(stop);

        using var screen = new Screen();
        await using var service = new EchoService(options with { Endpoints = [AnyLocalPort] });
        string endpoint = service.Endpoints[0];
        screen.WriteLine($"""
            READY {endpoint}

            Echo of {DemoPlan.MessageSize:N0}-byte messages over loopback tcp;
            {options.Describe()}.
            Server and clients (plain sockets) share this process and its {Environment.ProcessorCount} processors;
            GC and B/msg (bytes allocated per message) count both. Rows: connections x
            messages in flight on each.

            """);

        DemoStep current = DemoPlan.WarmUpStep;
        var results = new List<DemoResult>();
        var sweep = new DemoSweep(IPEndPoint.Parse(endpoint["tcp://".Length..]), perStep, new DemoProgress(screen, options.Quiet),
            stop.Token);
        try
        {
            await sweep.WarmUpAsync();
            foreach (DemoStep step in DemoPlan.Steps)
            {
                current = step;
                results.Add(await sweep.RunAsync(step));
            }

            ShutdownReport report = await service.StopAsync();
            CheckBooks(service.GetTotals(), report, sweep.Checked);
        }
        catch (DemoException failure)
        {
            screen.WriteNotice($"FAIL at {current}: {failure.Message}.");
            return 1;
        }
        catch (OperationCanceledException)
        {
            await service.StopAsync();
            screen.KeepLive();
            DemoTable.Write(screen, results);
            screen.WriteLine(string.Create(CultureInfo.InvariantCulture, $"Stopped at {current}, after {sweep.Checked:N0} right replies."));
            return 1;
        }

        DemoTable.Write(screen, results);
        screen.WriteLine();
        screen.WriteLine(
            $"""
            PASS: {sweep.Checked:N0} replies, every one checked: length, order and content,
            with payloads of the single byte 00, the single byte 01 and nothing among them.
            """);
        return 0;
    }

    /// <summary>What the clients counted, the server must have counted too.</summary>
    private static void CheckBooks(EchoTotals server, ShutdownReport report, long replies)
    {
        if (server.MessagesIn != replies || server.MessagesOut != replies || report.UndeliveredMessages != 0)
        {
            throw new DemoException(
                $"the clients got {replies:N0} replies, but the server counted {server.MessagesIn:N0} messages in, "
                + $"{server.MessagesOut:N0} out and {report.UndeliveredMessages:N0} undelivered");
        }
    }
}
