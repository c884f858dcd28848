using System.Diagnostics;
using System.Globalization;
using Net.Zlink;
using Samples;

namespace EchoServer;

/// <summary>Runs the server until Ctrl-C or SIGTERM, then drains it and prints what it did.</summary>
internal static class ServeCommand
{
    public static async Task<int> RunAsync(Options options)
    {
        long started = Stopwatch.GetTimestamp();
        using var screen = new Screen();
        await using var service = new EchoService(options);

        // Either signal ends the loop below.
        using var everySecond = new PeriodicTimer(TimeSpan.FromSeconds(1));
        using var stop = new CancellationTokenSource();
        using CancellationTokenRegistration ending = stop.Token.Register(everySecond.Dispose);
        using var signals = new StopSignals(stop);

        foreach (string endpoint in service.Endpoints)
        {
            screen.WriteLine($"READY {endpoint}");
        }

        var notices = new Notices(service.Stream, options, screen);
        Task noticing = notices.RunAsync();
        var status = new StatusLine(service, screen);
        if (!options.Quiet)
        {
            screen.WriteLine($"{options.Describe()} (Ctrl-C stops)");
        }

        while (await everySecond.WaitForNextTickAsync()) // until it is disposed
        {
            if (!options.Quiet)
            {
                status.Show();
            }
        }

        screen.KeepLive();
        if (screen.IsTerminal)
        {
            screen.ShowLive("Draining; Ctrl-C again quits at once."u8);
        }

        ShutdownReport report = await service.StopAsync();
        await noticing;
        WriteSummary(screen, service, report, Stopwatch.GetElapsedTime(started));
        return 0;
    }

    private static void WriteSummary(Screen screen, EchoService service, ShutdownReport report, TimeSpan ran)
    {
        EchoTotals totals = service.GetTotals();
        var times = new HistogramWindow(service.HandlerTimes);
        times.Close();
        string cutOff = service.CutOff > 0 ? Invariant($", {service.CutOff:N0} cut off for not reading") : "";
        string undelivered = report.UndeliveredMessages > 0
            ? Invariant($"{report.UndeliveredMessages:N0} messages, {report.UndeliveredBytes / 1e6:N1} MB (peers did not read, or left)")
            : "nothing";
        string unanswered = totals.Unanswered > 0 ? Invariant($"; {totals.Unanswered:N0} messages came too late for an answer") : "";
        screen.WriteLine(Invariant($"""
            Stopped after {ran.TotalSeconds:F1} s, {report.Elapsed.TotalSeconds:F1} s of them draining.
              connections  {totals.Accepted:N0} served, {totals.Refused:N0} refused{cutOff}
              received     {totals.MessagesIn:N0} messages, {totals.BytesIn / 1e6:N1} MB
              sent         {totals.MessagesOut:N0} messages, {totals.BytesOut / 1e6:N1} MB
              handler      p50 {times.Percentile(50)}, p99 {times.Percentile(99)} per batch; GC {GcCounts.Now}
              undelivered  {undelivered}{unanswered}
            """));
    }

    private static string Invariant(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);
}
