namespace Net.Zlink.Extensions.Hosting;

internal readonly record struct SocketFigures(
    long Queued, long Unread, long Delivered, long Dropped, int ConnectedPeers, string? WhyNotConnected)
{
    public static SocketFigures Of(ZlinkSocket socket)
    {
        if (socket is StreamSocket stream)
        {
            StreamStatistics read = stream.GetStatistics();
            return new SocketFigures(read.AcceptedMessages - read.WrittenMessages - read.DroppedMessages, read.UnreadMessages,
                read.ReceivedMessages - read.UnreadMessages, read.DroppedMessages + read.DroppedUnreadMessages, read.Peers, null);
        }

        var zmp = (ZmpSocket)socket;
        SocketStatistics statistics = zmp.GetStatistics();
        IReadOnlyList<PeerInfo> peers = zmp.GetPeers();

        // Messages that nobody subscribed to are dropped by design.
        long dropped = statistics.DroppedMessages + statistics.DroppedAtHighWaterMark + statistics.DroppedAtByteLimit
            + statistics.DroppedAtContextLimit + statistics.DroppedUnroutable + statistics.DroppedUnreadMessages;
        return new SocketFigures(statistics.QueuedMessages, statistics.UnreadMessages, statistics.DeliveredMessages, dropped,
            peers.Count(static peer => peer.IsConnected),
            peers.FirstOrDefault(static peer => peer.WhyNotConnected is not null)?.WhyNotConnected);
    }
}
