using Net.Zlink.Tests.Support;

namespace Net.Zlink.Conformance.Tests.Replay.Driving;

/// <summary>The time of one replay: it stands still but for what the replay moves it.</summary>
internal sealed class ReplayClock
{
    /// <summary>The clock goes on in pieces of 10 ms where timers decide, so that a timer that is set again from a callback finds the time
    /// it should.</summary>
    public const int Slice = 10;

    private readonly ManualTimeProvider _time = new();

    public TimeProvider Provider => _time;

    /// <summary>Milliseconds from the start of the replay.</summary>
    public long Elapsed { get; private set; }

    public void Advance(long milliseconds)
    {
        Elapsed += milliseconds;
        _time.Advance(TimeSpan.FromMilliseconds(milliseconds));
    }
}
