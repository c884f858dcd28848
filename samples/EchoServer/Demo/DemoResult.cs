namespace EchoServer.Demo;

/// <summary>What one step measured between its warm-up and its last message.</summary>
internal sealed record DemoResult(
    DemoStep Step, long Messages, long Bytes, TimeSpan Elapsed, Duration P50, Duration P99, GcCounts Collections, long AllocatedBytes)
{
    public double MessagesPerSecond => Messages / Elapsed.TotalSeconds;

    public double MegabytesPerSecond => Bytes / 1e6 / Elapsed.TotalSeconds;

    public double AllocatedPerMessage => (double)AllocatedBytes / Math.Max(1, Messages);
}
