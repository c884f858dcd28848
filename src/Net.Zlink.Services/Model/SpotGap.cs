using System.Globalization;

namespace Net.Zlink.Services;

/// <summary>A time in which messages of one node may be missing: the connection to it was lost and made again.</summary>
public sealed class SpotGap
{
    internal SpotGap()
    {
    }

    /// <summary>Where the node is connected, without the query.</summary>
    public string Endpoint { get; internal init; } = "";

    /// <summary>The id of the node's publishing socket, now. A node that was restarted has another one.</summary>
    public RoutingId RoutingId { get; internal init; }

    /// <summary>Until then the connection is known to have worked: the longest silence that heartbeats allow before its end.</summary>
    public DateTimeOffset From { get; internal init; }

    /// <summary>The connection was ready again. The subscriptions arrive one trip later.</summary>
    public DateTimeOffset Until { get; internal init; }

    /// <summary>Describes the gap for a log. The format may change.</summary>
    /// <returns>One line of text.</returns>
    public override string ToString() => string.Create(CultureInfo.InvariantCulture, $"{RoutingId} at {Endpoint}: {From:O} to {Until:O}");
}
