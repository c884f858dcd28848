using HdrHistogram;

namespace Samples;

/// <summary>What a histogram has counted since a copy of it was made.</summary>
internal static class HistogramSubtraction
{
    /// <summary>Leaves what was counted since <paramref name="before"/> was copied.</summary>
    /// <param name="counts">The later one.</param>
    /// <param name="before">The earlier one, of the same range and digits.</param>
    /// <param name="longest">The largest value in <paramref name="before"/>, or more.</param>
    public static void Subtract(this HistogramBase counts, HistogramBase before, long longest)
    {
        // Not RecordedValues, which allocates: a program that collects its garbage while it measures would measure that.
        for (long value = 0; value <= longest; value = before.NextNonEquivalentValue(value))
        {
            if (before.GetCountAtValue(value) is not 0 and long count)
            {
                counts.RecordValueWithCount(value, -count);
            }
        }
    }
}
