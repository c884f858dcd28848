using System.Text;
using static Net.Zlink.DescriptionText;

namespace Net.Zlink;

internal static class StreamDescription
{
    public static string Of(StreamSocket socket)
    {
        StreamStatistics counts = socket.GetStatistics();
        var text = new StringBuilder();
        Line(text, $"STREAM{(socket.Hub.IsClosed ? ", closed" : "")}");
        Endpoints(text, socket.Hub.Endpoints.All);
        Line(text, $"  connections: {counts.AcceptedConnections} accepted, {counts.DialledConnections} dialled, {counts.RefusedConnections} refused, {FailedHandshakes(counts.HandshakeFailures)}, {counts.ClosedConnections} closed, {counts.HandlerFaults} handlers threw");
        Line(text, $"  sent: {counts.AcceptedMessages} accepted = {counts.WrittenMessages} written + {counts.DroppedMessages} dropped + {counts.AcceptedMessages - counts.WrittenMessages - counts.DroppedMessages} queued");
        Line(text, $"  received: {counts.ReceivedMessages} read, {counts.DroppedUnreadMessages} dropped unread, {counts.UnreadMessages} unread");
        Memory(text, socket.Hub.Host);
        Peers(text, socket.GetPeers(), static peer => Describe(peer));
        return text.ToString();
    }

    private static FormattableString Describe(StreamPeer peer)
    {
        PeerStatistics one = peer.GetStatistics();
        return $"{peer} by {Quoted(peer.Endpoint)}: {(one.IsPaused ? "not read: the application receives too slowly" : "connected")}, sent {one.WrittenMessages}, to send {one.QueuedMessages} ({one.QueuedBytes} bytes), received {one.ReceivedMessages}, unread {one.UnreadMessages}, last read {Ago(one.SinceLastRead)}, last write {Ago(one.SinceLastWrite)}";
    }
}
