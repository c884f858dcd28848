using System.Globalization;

namespace Net.Zlink.Benchmarks.Patterns;

/// <summary>How many messages a run sends; the native programs read the same from their environment.</summary>
/// <param name="Messages">Of which the time is taken. Null: as the native programs do it, <see cref="SmallMessages"/> or <see cref="LargeMessages"/>.</param>
/// <param name="WarmUp">One at a time, not measured.</param>
/// <param name="RoundTrips">Of which the time is taken, one at a time. Null: as the native programs do it.</param>
internal sealed record PatternCounts(int? Messages, int WarmUp, int? RoundTrips)
{
    public const string MessagesVariable = "BENCH_MSG_COUNT";
    public const string WarmUpVariable = "BENCH_WARMUP_COUNT";
    public const string RoundTripsVariable = "BENCH_LAT_COUNT";

    public const int DefaultWarmUp = 1_000;

    /// <summary>The longest messages of which there are many.</summary>
    public const int SmallSize = 1_024;

    public const int SmallMessages = 200_000;
    public const int LargeMessages = 20_000;

    // The native programs take half as many where no routing id is looked at.
    private const int RoundTripsWithoutRouting = 500;
    private const int RoundTripsWithRouting = 1_000;

    // Two native programs must not reach the high-water mark of 300,000. The publisher drops above it, and its program then waits for ever for what was dropped. ROUTER_ROUTER_POLL, whose receiver is slower
    // than its sender, ends in a poll without end: seen with 1,000,000 messages, all accepted, 856,000 received, its I/O thread idle.
    private const int MostForNative = 250_000;

    public int MessagesOf(PatternCase what) => Messages ?? (what.Size <= SmallSize ? SmallMessages : LargeMessages);

    public int RoundTripsOf(PatternCase what) =>
        RoundTrips ?? (what.Pattern is PatternNames.Pair or PatternNames.DealerDealer ? RoundTripsWithoutRouting : RoundTripsWithRouting);

    /// <summary>What a native program is told.</summary>
    public IEnumerable<KeyValuePair<string, string>> NativeVariables(PatternCase what)
    {
        int messages = MessagesOf(what);
        yield return Variable(MessagesVariable, what.Pattern is PatternNames.PubSub or PatternNames.RouterRouterPoll ? Math.Min(messages, MostForNative) : messages);
        yield return Variable(WarmUpVariable, WarmUp);
        yield return Variable(RoundTripsVariable, RoundTripsOf(what));
    }

    private static KeyValuePair<string, string> Variable(string name, int value) => new(name, value.ToString(CultureInfo.InvariantCulture));
}
