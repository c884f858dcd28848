using System.Net;
using System.Net.Sockets;
using System.Security.Cryptography.X509Certificates;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.WebSocket;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Transports.Ipc;

namespace Net.Zlink.Sockets.Links;

/// <summary>A link's peer, as far as it is known: what received messages say about their sender. Immutable except its slot.</summary>
/// <param name="RoutingId">
/// The application's name of the peer: for ROUTER the id to send to, otherwise the announced id. Empty before a handshake.
/// </param>
/// <param name="Properties">The peer's READY metadata with this side's additions, or null.</param>
/// <param name="RemoteAddress">The peer's address as an endpoint. Empty for inproc.</param>
/// <param name="LocalAddress">This side's address.</param>
/// <param name="ConnectedAt">When the handshake was complete.</param>
internal sealed record PeerIdentity(byte[] RoutingId, ZmpProperties? Properties, string RemoteAddress, string LocalAddress,
    DateTimeOffset ConnectedAt)
{
    public static readonly PeerIdentity Unknown = new([], null, "", "", default);

    public X509Certificate2? Certificate { get; init; }

    public UpgradeHead? Request { get; init; }

    /// <summary>The state kept with the peer, shared by all identities of one connection.</summary>
    public PeerSlot Slot { get; } = new();

    /// <summary>The same peer on the same connection, under any name.</summary>
    public bool IsOfSameConnection(PeerIdentity other) => ReferenceEquals(Slot, other.Slot) && !ReferenceEquals(Slot, Unknown.Slot);

    /// <summary>
    /// The native "Peer-Address": the remote address without its port. Over ipc: the peer's user, group and process, if the system reports
    /// them.
    /// </summary>
    public static string AddressOf(EndPoint? remote, Socket socket) => remote is IPEndPoint ip
        ? (ip.Address.IsIPv4MappedToIPv6 ? ip.Address.MapToIPv4() : ip.Address).ToString()
        : IpcPeer.Describe(socket);

    public static string NameOf(ReadOnlySpan<byte> routingId) => RoutingIdText.Of(routingId);
}

/// <summary>The state kept with a connection's peer: the application's object, and its link.</summary>
internal sealed class PeerSlot
{
    private object? _state;
    private PeerLink? _link;

    /// <summary>The link while it is attached. Unread messages, which may stay for hours, keep only this slot alive.</summary>
    public PeerLink? Pipe
    {
        get => Volatile.Read(ref _link);
        set => Volatile.Write(ref _link, value);
    }

    public object? State
    {
        get => Volatile.Read(ref _state);
        set => Volatile.Write(ref _state, value);
    }
}
