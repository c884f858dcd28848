using System.Security.Cryptography.X509Certificates;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.WebSocket;
using Net.Zlink.Protocol.Zmp;

namespace Net.Zlink.Sockets.Links;

/// <summary>
/// <paramref name="RoutingId"/>: the application's name of the peer: for ROUTER the id to send to, otherwise the announced id.
/// <paramref name="Time"/>: the context's; null: there was no connection.
/// </summary>
internal sealed record PeerIdentity(byte[] RoutingId, ZmpProperties? Properties, string RemoteAddress, string LocalAddress,
    TimeProvider? Time)
{
    public static readonly PeerIdentity Unknown = new([], null, "", "", Time: null);

    private readonly long _connected = Time?.GetTimestamp() ?? 0;

    public DateTimeOffset? ConnectedAt { get; } = Time?.GetUtcNow();

    public TimeSpan? ConnectedFor => Time?.GetElapsedTime(_connected);

    public X509Certificate2? Certificate { get; init; }

    public UpgradeHead? Request { get; init; }

    public string? SubProtocol { get; init; }

    public PeerDetails? Details { get; init; }

    public PeerSlot Slot { get; } = new();

    public bool IsOfSameConnection(PeerIdentity other) => ReferenceEquals(Slot, other.Slot) && !ReferenceEquals(Slot, Unknown.Slot);

    public static string NameOf(ReadOnlySpan<byte> routingId) => RoutingIdText.Of(routingId);
}

internal sealed class PeerSlot
{
    /// <summary>Unread messages, which may stay for hours, keep only this slot alive.</summary>
    public PeerLink? Link
    {
        get => Volatile.Read(ref field);
        set => Volatile.Write(ref field, value);
    }

    public object? State
    {
        get => Volatile.Read(ref field);
        set => Volatile.Write(ref field, value);
    }
}
