using System.Globalization;
using System.Text;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Links;
using static Net.Zlink.DescriptionText;

namespace Net.Zlink;

internal static class SocketDescription
{
    public static string Of(ZmpSocket socket)
    {
        SocketStatistics counts = socket.GetStatistics();
        IReadOnlyList<PeerInfo> peers = socket.GetPeers();
        var text = new StringBuilder();
        Line(text, $"{ZmpSocketTypeExtensions.get_Name(socket.Core.Type)}{(socket.Core.IsClosed ? ", closed" : "")}{TopicsOf(socket)}");
        Endpoints(text, socket.Core.Endpoints.All);
        Part(text, $"  connections: {counts.AcceptedConnections} accepted, {counts.DialledConnections} dialled, ");
        Line(text, $"{counts.RefusedConnections} refused, {FailedHandshakes(counts.HandshakeFailures)}");
        Part(text, $"  sent: {counts.AcceptedMessages} accepted = {counts.WrittenMessages} written + {counts.DroppedMessages} dropped ");
        Part(text, $"({counts.ObsoleteMessages} obsolete) + {counts.QueuedMessages} queued; ");
        Part(text, $"not accepted: {counts.DroppedAtHighWaterMark} at a high-water mark, {counts.DroppedAtByteLimit} at a byte limit, ");
        Part(text, $"{counts.DroppedAtContextLimit} at the context's byte limit, {counts.DroppedUnroutable} unroutable, ");
        Line(text, $"{counts.UnmatchedMessages} unmatched");
        Part(text, $"  received: {counts.ReceivedMessages} read = {counts.DeliveredMessages} delivered ");
        Part(text, $"+ {counts.DroppedUnreadMessages} dropped + {counts.UnreadMessages} unread ");
        Line(text, $"+ {counts.FilteredMessages} filtered");
        Memory(text, socket.Core.Host);
        foreach ((RedactedEndpoint endpoint, string why) in socket.Core.GivenUp.All)
        {
            Line(text, $"  given up: {Quoted(endpoint.ToString())}: {why}; no further attempt is made; fix the cause, then connect again");
        }

        Peers(text, peers, Describe);
        return text.ToString();
    }

    public static void Describe(StringBuilder text, PeerInfo peer)
    {
        Part(text, $"{PeerIdentity.NameOf(peer.RoutingId.Span)} {Quoted(peer.RemoteAddress)} by {Quoted(peer.Endpoint)}: ");
        Part(text, $"{StateOf(peer)}, sent {peer.MessagesSent}, to send {peer.Outbound.Messages} ({peer.Outbound.Bytes} bytes), ");
        Part(text, $"dropped {peer.MessagesDropped}, received {peer.MessagesReceived}, ");
        Part(text, $"unread {peer.Unread.Messages} ({peer.Unread.Bytes} bytes), ");
        Part(text, $"last read {Ago(peer.SinceLastRead)}, last write {Ago(peer.SinceLastWrite)}");
    }

    private static string TopicsOf(ZmpSocket socket) => socket switch
    {
        SubSocket { TopicCount: 0 } => ", no topic: it receives nothing",
        SubSocket sub => Topics(sub.TopicCount),
        XSubSocket xsub => Topics(xsub.TopicCount),
        PubSocket pub => Topics(pub.TopicCount),
        XPubSocket xpub => Topics(xpub.TopicCount),
        _ => "",
    };

    private static string Topics(int count) => string.Create(CultureInfo.InvariantCulture, $", topics: {count}");

    private static string StateOf(PeerInfo peer) => peer switch
    {
        { IsConnected: false, WhyNotConnected: { } why } => $"not connected: {why}",
        { IsConnected: false } => "not connected",
        { IsPaused: true } => "not read: the application receives too slowly",
        _ => "connected",
    };
}
