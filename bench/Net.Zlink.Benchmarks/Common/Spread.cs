namespace Net.Zlink.Benchmarks.Common;

/// <summary>The median of some measurements with their range: ranges that overlap show no difference.</summary>
internal readonly record struct Spread(double Median, double Min, double Max)
{
    public static Spread? Of(IEnumerable<double> values)
    {
        double[] sorted = [.. values.Order()];
        if (sorted.Length == 0)
        {
            return null;
        }

        int middle = sorted.Length / 2;
        double median = sorted.Length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
        return new Spread(median, sorted[0], sorted[^1]);
    }

    public string ToString(string format) =>
        Min.Equals(Max) ? Median.ToString(format, null)
            : $"{Median.ToString(format, null)} ({Min.ToString(format, null)}..{Max.ToString(format, null)})";
}
