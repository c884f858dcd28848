using System.Net;
using Net.Zlink.Protocol.Zmp;

namespace Net.Zlink.Sockets.Pipes;

/// <summary>Who is at the other end of a pipe, as far as it is known: what a received message says about its sender. Immutable.</summary>
/// <param name="RoutingId">What the application calls the peer: for ROUTER the id it sends to, else the id that the peer announced. Empty before a handshake.</param>
/// <param name="Properties">The peer's READY metadata with what this side adds; null if there is none.</param>
/// <param name="RemoteEndpoint">Its address as an endpoint; empty for inproc.</param>
/// <param name="LocalEndpoint">Ours.</param>
/// <param name="ConnectedAt">When the handshake was complete.</param>
internal sealed record PeerIdentity(byte[] RoutingId, ZmpProperties? Properties, string RemoteEndpoint, string LocalEndpoint, DateTimeOffset ConnectedAt)
{
    public static readonly PeerIdentity Unknown = new([], null, "", "", default);

    /// <summary>The remote address without its port, the native "Peer-Address".</summary>
    public static string AddressOf(EndPoint? remote) => remote is IPEndPoint ip
        ? (ip.Address.IsIPv4MappedToIPv6 ? ip.Address.MapToIPv4() : ip.Address).ToString()
        : "";
}
