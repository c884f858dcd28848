using System.Globalization;
using System.Text;

namespace Net.Zlink.Monitoring;

/// <summary>One event of a monitored socket.</summary>
/// <param name="Type">What happened: one flag.</param>
/// <param name="Value">The number that belongs to the type, see <see cref="SocketEventTypes"/>.</param>
/// <param name="RoutingId">As in the native event: the id that the peer announced, in ConnectionReady, and in Disconnected on the side that
/// connected (with Immediate too, where it is natively empty); else empty. <see cref="PeerRoutingId"/> always tells.</param>
/// <param name="LocalAddress">Our side: the listener's endpoint, or a connection's local address (over ipc that of its listener) once it is
/// up.</param>
/// <param name="RemoteAddress">The peer's side, where there is one.</param>
/// <param name="PeerId">The peer's id on a STREAM socket; 0 where no peer is meant.</param>
/// <param name="Detail">A sentence for people, or null.</param>
public readonly record struct SocketEvent(
    SocketEventTypes Type, long Value, RoutingId RoutingId, string LocalAddress, string RemoteAddress, uint PeerId, string? Detail)
{
    /// <summary>What messages of this peer say as their RoutingId, and what a ROUTER sends to: in every event of its connection once it is
    /// known, for whichever side. Empty before, and for STREAM, which has <see cref="PeerId"/>.</summary>
    public RoutingId PeerRoutingId { get; init; }

    /// <summary>The event in words, for a log: its form may change.</summary>
    /// <returns>One line.</returns>
    public override string ToString()
    {
        var text = new StringBuilder(Type.ToString());
        Append(text, " at ", LocalAddress);
        Append(text, ", peer ", RemoteAddress);
        if (!PeerRoutingId.IsEmpty)
        {
            Append(text, " ", PeerRoutingId.ToString());
        }

        if (PeerId != 0)
        {
            text.Append(CultureInfo.InvariantCulture, $" number {PeerId}");
        }

        text.Append(CultureInfo.InvariantCulture, $", value {Value}");
        Append(text, ": ", Detail);
        return text.ToString();
    }

    private static void Append(StringBuilder text, string before, string? what)
    {
        if (!string.IsNullOrEmpty(what))
        {
            text.Append(before).Append(what);
        }
    }
}
