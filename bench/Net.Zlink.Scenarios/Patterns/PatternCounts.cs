using System.Globalization;

namespace Net.Zlink.Scenarios.Patterns;

/// <summary>How many messages a run sends; the native programs read the same from their environment.</summary>
/// <param name="Small">Of which the time is taken, up to <see cref="SmallSize"/> bytes each. Null: as the native programs do it,
/// <see cref="SmallMessages"/>.</param>
/// <param name="Large">The same of longer ones, <see cref="LargeMessages"/>.</param>
/// <param name="WarmUp">One at a time, not measured.</param>
/// <param name="RoundTrips">Of which the time is taken, one at a time. Null: as the native programs do it.</param>
internal sealed record PatternCounts(int? Small, int? Large, int WarmUp, int? RoundTrips)
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

    // Two native patterns must not reach the high-water mark of 300,000. The publisher drops above it, and its receiver then waits for ever
    // for what was dropped. ROUTER_ROUTER_POLL, whose receiver is slower
    // than its sender, ends in a poll without end: seen with 1,000,000 messages, all accepted, 856,000 received, its I/O thread idle.
    private const int MostForNative = 250_000;

    // The high-water mark of a native gateway and of its receiver.
    private const int MostForNativeGateway = 1_000_000;

    // What the native program sends at most: a native subscriber drops above 100,000.
    private const int MostForNativeSpot = 50_000;

    public int MessagesOf(PatternCase what) => what.Size <= SmallSize ? Small ?? SmallMessages : Large ?? LargeMessages;

    /// <summary>What the native library can be given.</summary>
    public int NativeMessagesOf(PatternCase what) =>
        what.Pattern switch
        {
            PatternNames.PubSub or PatternNames.RouterRouterPoll => Math.Min(MessagesOf(what), MostForNative),
            PatternNames.Spot => Math.Min(MessagesOf(what), MostForNativeSpot * what.Clients),
            PatternNames.Gateway => Math.Min(MessagesOf(what), MostForNativeGateway),
            _ => MessagesOf(what),
        };

    public int RoundTripsOf(PatternCase what) =>
        RoundTrips ?? (what.Pattern is PatternNames.Pair or PatternNames.DealerDealer or PatternNames.Stream ? RoundTripsWithoutRouting
            : RoundTripsWithRouting);

    /// <summary>What a native program is told.</summary>
    public IEnumerable<KeyValuePair<string, string>> NativeVariables(PatternCase what)
    {
        yield return Variable(MessagesVariable, NativeMessagesOf(what));
        yield return Variable(WarmUpVariable, WarmUp);
        yield return Variable(RoundTripsVariable, RoundTripsOf(what));
    }

    private static KeyValuePair<string, string> Variable(string name, int value) => new(name, value.ToString(CultureInfo.InvariantCulture));
}
