using System.Diagnostics;

namespace Net.Zlink.Scenarios.Patterns.Services.Chaos;

/// <summary>Does something so many times a second. What was missed in a second or more, because the process stood still, is left
/// out.</summary>
internal sealed class SteadyRate(int perSecond, Action<uint> act)
{
    private static readonly TimeSpan s_interval = TimeSpan.FromMilliseconds(10);

    private uint _count;

    public uint Count => Volatile.Read(ref _count);

    public async Task RunAsync(CancellationToken stop)
    {
        long begin = Stopwatch.GetTimestamp();
        while (!stop.IsCancellationRequested)
        {
            // What the clock says, so that the rate holds on a busy machine.
            long due = (long)(Stopwatch.GetElapsedTime(begin).TotalSeconds * perSecond);
            if (due - _count > perSecond)
            {
                begin = Stopwatch.GetTimestamp() - (long)((double)_count / perSecond * Stopwatch.Frequency);
                continue;
            }

            while (_count < due)
            {
                act(++_count);
            }

            await Task.Delay(s_interval, stop).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    }
}
