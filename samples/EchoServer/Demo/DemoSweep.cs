using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using HdrHistogram;

namespace EchoServer.Demo;

/// <summary>
/// Runs the steps of the demo, one after the other, against one server. Throws <see cref="DemoException"/> at the first thing wrong,
/// and OperationCanceledException when it is stopped.
/// </summary>
internal sealed class DemoSweep(IPEndPoint server, TimeSpan perStep, DemoProgress progress, CancellationToken cancellation)
{
    private static readonly TimeSpan ProgressEvery = TimeSpan.FromMilliseconds(100);

    private readonly HistogramBase _roundTrips = HistogramWindow.NewHistogram();
    private DemoException? _failure;

    /// <summary>Replies checked in all steps, warm-ups included, and of one that was stopped.</summary>
    public long Checked { get; private set; }

    /// <summary>Lets the process reach its stride; every reply is checked here too.</summary>
    public Task WarmUpAsync() => RunAsync(DemoPlan.WarmUpStep, "warm-up", DemoPlan.WarmUpStepTime);

    public Task<DemoResult> RunAsync(DemoStep step) => RunAsync(step, "measure", perStep);

    private async Task<DemoResult> RunAsync(DemoStep step, string phase, TimeSpan time)
    {
        DemoClient[] clients =
            [.. Enumerable.Range(0, step.Connections).Select(number => new DemoClient(number, step.InFlight, _roundTrips))];
        try
        {
            progress.Begin(step, phase);
            await ConnectAsync(clients);
            Task running = Task.WhenAll(clients.Select(RunOneAsync));
            DemoResult result = await MeasureAsync(step, clients, time);
            await StopAsync(clients, running);
            return result;
        }
        finally
        {
            Checked += clients.Sum(client => client.Checked);
            Array.ForEach(clients, client => client.Dispose());
        }
    }

    private async Task ConnectAsync(DemoClient[] clients)
    {
        try
        {
            await Task.WhenAll(clients.Select(client => client.ConnectAsync(server)));
        }
        catch (SocketException exception)
        {
            throw new DemoException($"cannot connect to {server}: {exception.Message}");
        }
    }

    /// <summary>A failure is noticed at the next tick of the progress line, not only when all the other clients have ended too.</summary>
    private async Task RunOneAsync(DemoClient client)
    {
        // Off the caller's stack: 1,000 clients would otherwise send their first messages one after the other, before any reply is read.
        await Task.Yield();
        try
        {
            await client.RunAsync();
        }
        catch (DemoException exception)
        {
            Interlocked.CompareExchange(ref _failure, exception, null);
        }
        catch (Exception exception) when (exception is SocketException or ObjectDisposedException)
        {
            Interlocked.CompareExchange(ref _failure, new DemoException($"a connection broke: {exception.Message}"), null);
        }
    }

    private async Task<DemoResult> MeasureAsync(DemoStep step, DemoClient[] clients, TimeSpan time)
    {
        await WatchAsync(clients, DemoPlan.SettleTime);

        // From the first reading to the second nothing here allocates, the progress line included.
        var window = new HistogramWindow(_roundTrips);
        window.Open();
        Reading before = Reading.Take(clients);
        await WatchAsync(clients, time);
        Reading after = Reading.Take(clients);
        window.Close();
        return new DemoResult(
            step,
            after.Messages - before.Messages,
            after.Bytes - before.Bytes,
            Stopwatch.GetElapsedTime(before.Timestamp, after.Timestamp),
            window.Percentile(50),
            window.Percentile(99),
            after.Collections - before.Collections,
            after.Allocated - before.Allocated);
    }

    /// <summary>Lets the clients run for the given time, showing how they do.</summary>
    private async Task WatchAsync(DemoClient[] clients, TimeSpan time)
    {
        using var ticks = new PeriodicTimer(ProgressEvery);
        long started = Stopwatch.GetTimestamp();
        long before = Reading.CheckedBy(clients);
        TimeSpan elapsed = TimeSpan.Zero;
        while (elapsed < time && await ticks.WaitForNextTickAsync(cancellation))
        {
            ThrowIfFailed();
            elapsed = Stopwatch.GetElapsedTime(started);
            progress.Show(elapsed / time, (Reading.CheckedBy(clients) - before) / elapsed.TotalSeconds);
        }
    }

    private async Task StopAsync(DemoClient[] clients, Task running)
    {
        Array.ForEach(clients, client => client.Stop());
        try
        {
            await running.WaitAsync(DemoPlan.ReplyDeadline);
        }
        catch (TimeoutException)
        {
            throw new DemoException(
                $"{clients.Sum(client => client.Missing):N0} replies were still missing "
                + $"{DemoPlan.ReplyDeadline.TotalSeconds:F0} s after the last message");
        }

        ThrowIfFailed();
    }

    private void ThrowIfFailed()
    {
        if (Volatile.Read(ref _failure) is DemoException failure)
        {
            throw failure;
        }
    }

    /// <summary>Everything a step reports the difference of, read at one moment.</summary>
    private readonly record struct Reading(long Timestamp, long Messages, long Bytes, GcCounts Collections, long Allocated)
    {
        public static Reading Take(DemoClient[] clients)
        {
            long bytes = 0;
            foreach (DemoClient client in clients)
            {
                bytes += client.CheckedBytes;
            }

            // precise: count what each thread has really used of the block that the allocator gave it.
            return new Reading(Stopwatch.GetTimestamp(), CheckedBy(clients), bytes, GcCounts.Now, GC.GetTotalAllocatedBytes(precise: true));
        }

        public static long CheckedBy(DemoClient[] clients)
        {
            long messages = 0;
            foreach (DemoClient client in clients)
            {
                messages += client.Checked;
            }

            return messages;
        }
    }
}
