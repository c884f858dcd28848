using System.Globalization;

namespace Net.Zlink.Benchmarks.Patterns;

/// <summary>Two sockets, how they are connected, and how long their messages are.</summary>
/// <param name="Pattern">One of <see cref="PatternNames.All"/>.</param>
/// <param name="Transport">tcp, ipc or inproc.</param>
/// <param name="Size">Payload bytes.</param>
internal sealed record PatternCase(string Pattern, string Transport, int Size)
{
    /// <summary>What bars call it.</summary>
    public string Name => string.Create(CultureInfo.InvariantCulture, $"{Pattern}/{Transport}/{Size}");

    public override string ToString() => Name;
}

/// <summary>The patterns, by the names that the native programs print.</summary>
internal static class PatternNames
{
    public const string Pair = "PAIR";
    public const string PubSub = "PUBSUB";
    public const string DealerDealer = "DEALER_DEALER";
    public const string DealerRouter = "DEALER_ROUTER";
    public const string RouterRouter = "ROUTER_ROUTER";

    /// <summary>As <see cref="RouterRouter"/>, with a poll before each receive.</summary>
    public const string RouterRouterPoll = "ROUTER_ROUTER_POLL";

    public static string[] All { get; } = [Pair, PubSub, DealerDealer, DealerRouter, RouterRouter, RouterRouterPoll];

    public static string[] Transports { get; } = ["tcp", "ipc", "inproc"];

    /// <summary>The native program that measures it.</summary>
    public static string NativeProgram(string pattern) => "comp_current_" + pattern.ToLowerInvariant();
}
