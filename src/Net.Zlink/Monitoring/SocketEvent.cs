using System.Globalization;
using System.Text;

namespace Net.Zlink.Monitoring;

/// <summary>One event of a monitored socket.</summary>
/// <param name="Type">What happened: one flag.</param>
/// <param name="Value">The number that belongs to the type, see <see cref="SocketEventTypes"/>.</param>
/// <param name="RoutingId">
/// The id of the native event: set in ConnectionReady, and in Disconnected on the connecting side, otherwise empty.
/// <see cref="PeerRoutingId"/> is set in every event.
/// </param>
/// <param name="LocalAddress">
/// Our side: the listener's endpoint, or a connection's local address. Over ipc it is the listener's address.
/// </param>
/// <param name="RemoteAddress">The peer's side, if there is one.</param>
/// <param name="PeerId">The peer's id on a STREAM socket, or 0.</param>
/// <param name="Detail">A sentence that explains the event, or null.</param>
public readonly record struct SocketEvent(
    SocketEventTypes Type, long Value, RoutingId RoutingId, string LocalAddress, string RemoteAddress, uint PeerId, string? Detail)
{
    /// <summary>
    /// The peer's routing id, as in its messages: set in every event of its connection once it is known. A name that Connect gave to it is
    /// known from the start. Empty before that and for STREAM, which has <see cref="PeerId"/>.
    /// </summary>
    public RoutingId PeerRoutingId { get; init; }

    /// <summary>Describes the event for a log. The format may change.</summary>
    /// <returns>One line of text.</returns>
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
