using Net.Zlink.Sockets.Pipes;
using Net.Zlink.Sockets.Routing;

namespace Net.Zlink.Sockets.Patterns;

/// <summary>What a subscriber leaves behind that has gone, or goes for having too many topics.</summary>
/// <param name="Pipe">Who.</param>
/// <param name="Granted">What counted.</param>
/// <param name="Asked">In manual mode: what it had asked for.</param>
/// <param name="Notices">What the application was to be told when it went.</param>
internal sealed record Departure(Pipe Pipe, Subscriber<Pipe> Granted, Subscriber<Pipe>? Asked, SubscriptionNotices Notices)
{
    /// <summary>How many topics it has left. It subscribes to no more: this stays the same until they are taken out.</summary>
    public int TopicCount { get; } = Granted.PrefixCount + (Asked?.PrefixCount ?? 0);
}
