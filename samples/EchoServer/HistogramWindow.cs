namespace EchoServer;

/// <summary>What a <see cref="Histogram"/> counted between two moments: the last second of the status line, one step of the demo.</summary>
internal sealed class HistogramWindow(Histogram histogram)
{
    private readonly long[] _atStart = new long[Histogram.BucketCount];
    private readonly long[] _counts = new long[Histogram.BucketCount];

    /// <summary>The window begins now; what was counted before no longer matters.</summary>
    public void Open() => histogram.CopyTo(_atStart);

    /// <summary>The window ends now: <see cref="Percentile"/> answers for it until the next close.</summary>
    public void Close()
    {
        histogram.CopyTo(_counts);
        for (int i = 0; i < _counts.Length; i++)
        {
            _counts[i] -= _atStart[i];
        }
    }

    /// <summary>In nanoseconds; -1 if nothing was counted in the window.</summary>
    public Duration Percentile(double percent) => new(Histogram.Percentile(_counts, percent));
}
