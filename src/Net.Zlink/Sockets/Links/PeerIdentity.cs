using System.Net;
using System.Net.Sockets;
using System.Security.Cryptography.X509Certificates;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.WebSocket;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Transports.Ipc;

namespace Net.Zlink.Sockets.Links;

/// <summary>Who is at the other end of a pipe, as far as it is known: what a received message says about its sender. Immutable, but for
/// what is in its slot.</summary>
/// <param name="RoutingId">What the application calls the peer: for ROUTER the id it sends to, else the id that the peer announced. Empty
/// before a handshake.</param>
/// <param name="Properties">The peer's READY metadata with what this side adds; null if there is none.</param>
/// <param name="RemoteAddress">Its address as an endpoint; empty for inproc.</param>
/// <param name="LocalAddress">Ours.</param>
/// <param name="ConnectedAt">When the handshake was complete.</param>
internal sealed record PeerIdentity(byte[] RoutingId, ZmpProperties? Properties, string RemoteAddress, string LocalAddress,
    DateTimeOffset ConnectedAt)
{
    public static readonly PeerIdentity Unknown = new([], null, "", "", default);

    /// <summary>The certificate that it showed, over tls and wss.</summary>
    public X509Certificate2? Certificate { get; init; }

    /// <summary>What it asked for its WebSocket with, where it did.</summary>
    public UpgradeHead? Request { get; init; }

    /// <summary>What is kept with the peer; one for all names that a connection's peer goes by.</summary>
    public PeerSlot Slot { get; } = new();

    /// <summary>It is the same peer of the same connection, whatever it is called.</summary>
    public bool IsOfSameConnection(PeerIdentity other) => ReferenceEquals(Slot, other.Slot) && !ReferenceEquals(Slot, Unknown.Slot);

    /// <summary>The native "Peer-Address": the remote address without its port; over ipc the peer's user, group and process, where the
    /// system tells them.</summary>
    public static string AddressOf(EndPoint? remote, Socket socket) => remote is IPEndPoint ip
        ? (ip.Address.IsIPv4MappedToIPv6 ? ip.Address.MapToIPv4() : ip.Address).ToString()
        : IpcPeer.Describe(socket);

    /// <summary>A routing id for people: its text where it is plain ASCII, else hexadecimal digits.</summary>
    public static string NameOf(ReadOnlySpan<byte> routingId) => RoutingIdText.Of(routingId);
}

/// <summary>What is kept with the peer of a connection: something of the application's, and where it is to be found.</summary>
internal sealed class PeerSlot
{
    private object? _state;
    private PeerLink? _link;

    /// <summary>The pipe, as long as the peer has its place in the socket: its unread messages, which may lie there for hours, keep no more
    /// than this.</summary>
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
