using System.Globalization;

namespace Net.Zlink.Scenarios.Patterns;

/// <summary>A server and its clients, how they are connected, and how long their messages are.</summary>
/// <param name="Pattern">One of <see cref="PatternNames.All"/>.</param>
/// <param name="Transport">One of <see cref="PatternNames.Transports"/>.</param>
/// <param name="Size">Payload bytes.</param>
/// <param name="Clients">To the one server.</param>
internal sealed record PatternCase(string Pattern, string Transport, int Size, int Clients = 1)
{
    /// <summary>What bars call it.</summary>
    public string Name => string.Create(CultureInfo.InvariantCulture, $"{Pattern}/{Transport}/{Size}");

    /// <summary>How RESULT lines call the pattern: the native programs put MULTI_ before it where there are many clients.</summary>
    public string LineName => Clients > 1 ? "MULTI_" + Pattern : Pattern;

    /// <summary>There is no such thing: a PAIR has one peer, STREAM needs a stream of bytes, and an inproc name has one
    /// receiver.</summary>
    public bool IsImpossible => (Pattern is PatternNames.Pair && Clients > 1)
        || (Pattern is PatternNames.Gateway or PatternNames.GatewayRequest && Transport is PatternNames.Inproc && Clients > 1)
        || (Pattern is PatternNames.Stream && Transport is PatternNames.Inproc);

    public override string ToString() => Clients > 1 ? string.Create(CultureInfo.InvariantCulture, $"{Name}, {Clients} clients") : Name;
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

    public const string Stream = "STREAM";

    /// <summary>A gateway to its receivers: <see cref="PatternCase.Clients"/> says how many.</summary>
    public const string Gateway = "GATEWAY";

    /// <summary>RequestAsync of a gateway, one at a time, beside a native send and its answer.</summary>
    public const string GatewayRequest = "GATEWAY_REQUEST";

    /// <summary>A node that publishes to one with <see cref="PatternCase.Clients"/> subscribers.</summary>
    public const string Spot = "SPOT";

    public const string Inproc = "inproc";

    public const string SingleApi = "single";
    public const string BatchApi = "batch";

    /// <summary>Those of sockets alone.</summary>
    public static string[] OfSockets { get; } = [Pair, PubSub, DealerDealer, DealerRouter, RouterRouter, RouterRouterPoll, Stream];

    public static string[] All { get; } = [.. OfSockets, Gateway, GatewayRequest, Spot];

    public static string[] Transports { get; } = ["tcp", "ipc", Inproc, "tls", "ws", "wss"];

    public static int[] Sizes { get; } = [64, 256, 1_024, 65_536, 131_072, 262_144];

    public static string[] Apis { get; } = [SingleApi, BatchApi];

    /// <summary>The native program that measures it.</summary>
    public static string NativeProgram(string pattern) => "comp_current_" + pattern.ToLowerInvariant();
}
