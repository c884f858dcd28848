namespace Net.Zlink.Extensions.Hosting;

internal readonly record struct SocketFigures(
    long Queued, long Unread, long Delivered, long Dropped, int ConnectedPeers, string? WhyNotConnected)
{
    public static SocketFigures Of(ZlinkSocket socket)
    {
        SocketStatistics statistics = socket.GetStatistics();
        IReadOnlyList<PeerInfo> peers = (socket as ZmpSocket)?.GetPeers() ?? [];

        // Messages that nobody subscribed to are dropped by design.
        long dropped = statistics.DroppedMessages + statistics.DroppedAtHighWaterMark + statistics.DroppedAtByteLimit
            + statistics.DroppedAtContextLimit + statistics.DroppedUnroutable + statistics.DroppedUnreadMessages;
        return new SocketFigures(statistics.QueuedMessages, statistics.UnreadMessages, statistics.DeliveredMessages, dropped,
            socket is StreamSocket ? statistics.Peers : peers.Count(static peer => peer.IsConnected),
            peers.FirstOrDefault(static peer => peer.WhyNotConnected is not null)?.WhyNotConnected);
    }
}
