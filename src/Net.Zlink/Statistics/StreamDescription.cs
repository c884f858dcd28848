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
        Endpoints(text, socket.Hub.EndpointStatuses);
        Part(text, $"  connections: {counts.AcceptedConnections} accepted, {counts.DialledConnections} dialled, ");
        Part(text, $"{counts.RefusedConnections} refused, {FailedHandshakes(counts.HandshakeFailures)}, ");
        Line(text, $"{counts.ClosedConnections} closed, {counts.HandlerFaults} handlers threw");
        long queued = counts.AcceptedMessages - counts.WrittenMessages - counts.DroppedMessages;
        Part(text, $"  sent: {counts.AcceptedMessages} accepted = {counts.WrittenMessages} written ");
        Line(text, $"+ {counts.DroppedMessages} dropped + {queued} queued");
        Part(text, $"  received: {counts.ReceivedMessages} read, {counts.DroppedUnreadMessages} dropped unread, ");
        Line(text, $"{counts.UnreadMessages} unread");
        Memory(text, socket.Hub.Host);
        Peers(text, socket.GetPeers(), Describe);
        return text.ToString();
    }

    private static void Describe(StringBuilder text, StreamPeer peer)
    {
        PeerStatistics one = peer.GetStatistics();
        string state = one.IsPaused ? "not read: the application receives too slowly" : "connected";
        Part(text, $"{peer} by {Quoted(peer.Endpoint)}: {state}, sent {one.WrittenMessages}, ");
        Part(text, $"to send {one.QueuedMessages} ({one.QueuedBytes} bytes), received {one.ReceivedMessages}, ");
        Part(text, $"unread {one.UnreadMessages}, last read {Ago(one.SinceLastRead)}, last write {Ago(one.SinceLastWrite)}");
    }
}
