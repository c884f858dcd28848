using System.Globalization;
using System.Text;
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
        Line(text, $"{Protocol.Zmp.ZmpSocketTypeExtensions.get_Name(socket.Core.Type)}{(socket.Core.IsClosed ? ", closed" : "")}{TopicsOf(socket)}");
        Endpoints(text, socket.Core.Endpoints.All);
        Line(text, $"  connections: {counts.AcceptedConnections} accepted, {counts.DialledConnections} dialled, {counts.RefusedConnections} refused, {FailedHandshakes(counts.HandshakeFailures)}");
        Line(text, $"  sent: {counts.AcceptedMessages} accepted = {counts.WrittenMessages} written + {counts.DroppedMessages} dropped ({counts.ObsoleteMessages} obsolete) + {counts.QueuedMessages} queued; not accepted: {counts.DroppedAtHighWaterMark} at a mark, {counts.DroppedAtByteLimit} at a byte limit, {counts.DroppedAtContextLimit} at the context's, {counts.DroppedUnroutable} unroutable, {counts.UnmatchedMessages} unmatched");
        Line(text, $"  received: {counts.ReceivedMessages} read = {counts.DeliveredMessages} delivered + {counts.DroppedUnreadMessages} dropped + {counts.UnreadMessages} unread + {counts.FilteredMessages} filtered");
        Memory(text, socket.Core.Host);
        foreach ((string endpoint, string why) in socket.Core.GivenUp.All)
        {
            Line(text, $"  given up: {Quoted(endpoint)}: {why}; no further attempt is made, connect again once that is mended");
        }

        Peers(text, peers, static peer => $"{PeerIdentity.NameOf(peer.RoutingId.Span)} {Quoted(peer.RemoteAddress)} by {Quoted(peer.Endpoint)}: {StateOf(peer)}, sent {peer.MessagesSent}, to send {peer.Outbound.Messages} ({peer.Outbound.Bytes} bytes), dropped {peer.MessagesDropped}, received {peer.MessagesReceived}, unread {peer.Unread.Messages} ({peer.Unread.Bytes} bytes), last read {Ago(peer.SinceLastRead)}, last write {Ago(peer.SinceLastWrite)}");
        return text.ToString();
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
