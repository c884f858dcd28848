using System.Diagnostics;

namespace Samples;

/// <summary>Says once a second how far a sample is: on a slow machine it would look as if it had stopped.</summary>
internal sealed class Progress(TextWriter output, string what, int all)
{
    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(1);

    private long _shownAt = Stopwatch.GetTimestamp();

    public void Show(int done)
    {
        if (done < all && Stopwatch.GetElapsedTime(_shownAt) >= Interval)
        {
            _shownAt = Stopwatch.GetTimestamp();
            output.WriteLine(FormattableString.Invariant($"  {done:N0} of {all:N0} {what}"));
        }
    }
}
