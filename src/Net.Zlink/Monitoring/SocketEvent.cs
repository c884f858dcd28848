using System.Globalization;
using System.Text;

namespace Net.Zlink.Monitoring;

/// <summary>One event of a monitored socket.</summary>
public readonly struct SocketEvent
{
    internal SocketEvent(
        SocketEventTypes type, long value, RoutingId routingId, RedactedEndpoint local, RedactedEndpoint remote, uint peerId,
        string? detail)
    {
        Type = type;
        Value = value;
        RoutingId = routingId;
        LocalAddress = local.ToString();
        RemoteAddress = remote.ToString();
        PeerId = peerId;
        Detail = detail;
    }

    /// <summary>What happened: one flag.</summary>
    public SocketEventTypes Type { get; init; }

    /// <summary>The number that belongs to the type, see <see cref="SocketEventTypes"/>.</summary>
    public long Value { get; init; }

    /// <summary>
    /// The id of the native event: set in ConnectionReady, and in Disconnected on the connecting side, otherwise empty.
    /// <see cref="PeerRoutingId"/> is set in every event.
    /// </summary>
    public RoutingId RoutingId { get; init; }

    /// <summary>
    /// Our side: the listener's endpoint, or a connection's local address. Over ipc it is the listener's address.
    /// </summary>
    public string LocalAddress { get => field ?? ""; init; }

    /// <summary>The peer's side. Empty if there is none.</summary>
    public string RemoteAddress { get => field ?? ""; init; }

    /// <summary>The peer's id on a STREAM socket, or 0.</summary>
    public uint PeerId { get; init; }

    /// <summary>A sentence that explains the event, or null.</summary>
    public string? Detail { get; init; }

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
