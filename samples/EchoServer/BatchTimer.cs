using System.Diagnostics;
using HdrHistogram;

namespace EchoServer;

/// <summary>
/// Measures how long the echo spends on a batch of messages. One batch in 16 of each thread is measured: reading the clock twice costs
/// about 50 ns, which a batch of one small message would feel, while 1 in 16 still gives thousands of samples a second under load.
/// </summary>
internal sealed class BatchTimer
{
    private const uint SampleMask = 16 - 1;

    [ThreadStatic]
    private static uint _batchesOfThisThread;

    public HistogramBase Times { get; } = HistogramWindow.NewHistogram();

    /// <summary>The time stamp to hand to <see cref="Stop"/>; 0: this batch is not measured.</summary>
    public static long Start() => (_batchesOfThisThread++ & SampleMask) == 0 ? Stopwatch.GetTimestamp() : 0;

    public void Stop(long started)
    {
        if (started != 0)
        {
            HistogramWindow.Record(Times, Stopwatch.GetElapsedTime(started));
        }
    }
}
