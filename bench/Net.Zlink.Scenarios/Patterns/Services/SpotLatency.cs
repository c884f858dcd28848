using System.Buffers.Binary;
using System.Diagnostics;
using Net.Zlink.Scenarios.Measure;
using Net.Zlink.Services;

namespace Net.Zlink.Scenarios.Patterns.Services;

/// <summary>How long messages take to subscribers of a node of which one may never end with its first message.</summary>
internal static class SpotLatency
{
    public const int Others = 99;

    // 200 a second for 100 subscribers is what two processors do without falling behind.
    private const int Messages = 600;
    private const int Milliseconds = 5;

    // So few that the slow one drops nearly all.
    private const int SlowCapacity = 16;
    private const double Percentile = 99;
    private const double NanosecondsPerMicrosecond = 1_000;
    private const string Topic = "prices";

    /// <summary>The 99th percentile of all but the one that may be slow, in microseconds.</summary>
    public static async Task<double> MeasureAsync(bool isOneSlow, CancellationToken cancellation)
    {
        await using var context = new ZlinkContext();
        await using var publishing = new SpotNode(context);
        await using var subscribing = new SpotNode(context);
        subscribing.Connect(publishing.Bind(CostCommand.Endpoint));
        await subscribing.WaitForPeersAsync(1, cancellation);
        var never = new TaskCompletionSource();
        SpotSubscriber first = subscribing.CreateSubscriber(new SpotSubscriberOptions { Capacity = SlowCapacity });
        first.Subscribe(Topic);
        first.OnMessage(async (_, _) => await (isOneSlow ? never.Task : Task.CompletedTask));
        var subscribers = new SpotSubscriber[Others];
        var histograms = new LatencyHistogram[Others];
        for (int i = 0; i < Others; i++)
        {
            LatencyHistogram histogram = histograms[i] = new LatencyHistogram();
            subscribers[i] = subscribing.CreateSubscriber();
            subscribers[i].Subscribe(Topic);
            subscribers[i].OnMessage((message, _) =>
            {
                long sent = BinaryPrimitives.ReadInt64LittleEndian(message.Span);
                histogram.Record((long)(Stopwatch.GetElapsedTime(sent).TotalMicroseconds * NanosecondsPerMicrosecond));
                return default;
            });
        }

        byte[] payload = new byte[SpotFlood.Size];
        SpotPublisher publisher = publishing.CreatePublisher(Topic);
        using var timer = new PeriodicTimer(TimeSpan.FromMilliseconds(Milliseconds));
        for (int i = 0; i < Messages; i++)
        {
            await timer.WaitForNextTickAsync(cancellation);
            BinaryPrimitives.WriteInt64LittleEndian(payload, Stopwatch.GetTimestamp());
            publisher.TryPublish(payload);
        }

        while (subscribers.Any(static subscriber => subscriber.GetStatistics().Queued > 0))
        {
            await Task.Delay(Milliseconds, cancellation);
        }

        never.SetResult();
        foreach (SpotSubscriber subscriber in subscribers)
        {
            await subscriber.DisposeAsync();
        }

        var all = new LatencyHistogram();
        Array.ForEach(histograms, all.Add);
        return all.Percentile(Percentile) / NanosecondsPerMicrosecond;
    }
}
