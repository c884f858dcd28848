using System.Globalization;
using System.Text;

namespace Net.Zlink.Services;

/// <summary>What can be seen of a node: statistics, metrics, a description.</summary>
internal sealed class NodeCounters(PublishPath path, DispatchLoop dispatch, TopicIndex index, PeerSet peers,
    RegistrationSet registrations, SubscriberSet subscribers)
{
    public SpotNodeStatistics Read()
    {
        (int count, SpotSubscriberStatistics deliveries) = subscribers.Statistics;
        return new SpotNodeStatistics(deliveries)
        {
            Published = path.Published,
            Refused = path.Refused,
            PublishQueued = path.Queue?.Count ?? 0,
            PublishDropped = path.Queue?.Dropped ?? 0,
            Received = dispatch.Received,
            Unmatched = dispatch.Unmatched,
            Malformed = dispatch.Malformed,
            LongTopics = dispatch.LongTopics,
            Repeated = dispatch.Repeated,
            Gaps = peers.Gaps.Count,
            Subscribers = count,
            Filters = index.FilterCount,
            Peers = peers.ConnectedCount,
            Followers = CountOrZero(() => path.Socket?.PeerCount ?? 0),
            HandlerFaults = subscribers.HandlerFaults,
        };
    }

    public long Received => dispatch.Received;

    public long Unmatched => dispatch.Unmatched;

    public long Gaps => peers.Gaps.Count;

    public int Peers => peers.ConnectedCount;

    public SpotSubscriberStatistics Deliveries => subscribers.Statistics.Sum;

    public IEnumerable<Reading> Publications() =>
        [new(path.Published), new(path.Refused, MessagingTags.Error, ErrorTypes.Refused)];

    public IEnumerable<Reading> Dropped() =>
    [
        Reading.OfCause(subscribers.Statistics.Sum.Dropped, "subscriber"),
        Reading.OfCause(path.Queue?.Dropped ?? 0, "publish_queue"),
        Reading.OfCause(dispatch.LongTopics, "long_topic"),
    ];

    /// <param name="id">The node's.</param>
    /// <param name="publishers">What it is connected to.</param>
    /// <param name="followers">What is connected to it.</param>
    public string Describe(RoutingId id, IReadOnlyList<PeerInfo> publishers, IReadOnlyList<PeerInfo> followers)
    {
        var text = new StringBuilder();
        IEnumerable<RedactedEndpoint> bound = (path.Socket?.BoundEndpoints ?? []).Select(static endpoint => new RedactedEndpoint(endpoint));
        text.AppendLine(CultureInfo.InvariantCulture, $"SPOT node {id}, bound to {string.Join(", ", bound)}");
        SpotNodeStatistics counts = Read();
        SpotSubscriberStatistics deliveries = counts.Deliveries;
        text.AppendLine(CultureInfo.InvariantCulture,
            $"  published {counts.Published}, refused {counts.Refused}, queued {counts.PublishQueued}, dropped {counts.PublishDropped}; "
            + $"received {counts.Received}, unmatched {counts.Unmatched}, malformed {counts.Malformed}, of long topics "
            + $"{counts.LongTopics}, repeated {counts.Repeated}, gaps {counts.Gaps}");
        text.AppendLine(CultureInfo.InvariantCulture,
            $"  subscribers {counts.Subscribers}, filters {counts.Filters}: matched {deliveries.Matched}, received {deliveries.Received}, "
            + $"dropped {deliveries.Dropped}, queued {deliveries.Queued} ({deliveries.QueuedBytes} bytes), handlers that threw "
            + $"{counts.HandlerFaults}");
        foreach (PeerInfo peer in publishers)
        {
            text.AppendLine(CultureInfo.InvariantCulture,
                $"  from {peer.Endpoint}: {(peer.IsConnected ? "connected" : peer.WhyNotConnected)}, {peer.MessagesReceived} messages");
        }

        foreach (PeerInfo follower in followers)
        {
            text.AppendLine(CultureInfo.InvariantCulture,
                $"  to {follower.RemoteAddress}: {follower.MessagesSent} messages, {follower.MessagesDropped} dropped");
        }

        foreach (ServiceRegistration registration in registrations.Registrations)
        {
            text.AppendLine(CultureInfo.InvariantCulture,
                $"  {registration.Service} at {new RedactedEndpoint(registration.Endpoint)}: {registration.State}");
            foreach (RegistryStatus status in registration.GetRegistries())
            {
                text.AppendLine(CultureInfo.InvariantCulture,
                    $"    {new RedactedEndpoint(status.RegistryEndpoint)}: {status.State}, "
                    + $"last heartbeat at {status.LastHeartbeatAt:O} {status.Detail}");
            }
        }

        return text.ToString();
    }

    /// <summary>The sockets may have ended.</summary>
    private static int CountOrZero(Func<int> count)
    {
        try
        {
            return count();
        }
        catch (Exception e) when (e is ObjectDisposedException or ZlinkException)
        {
            return 0;
        }
    }
}
