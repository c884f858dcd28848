using System.Diagnostics.Metrics;
using System.Globalization;
using System.Text;

namespace Net.Zlink.Services;

/// <summary>What can be seen of a node: statistics, meters, a description.</summary>
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

    /// <param name="node">What is measured.</param>
    /// <param name="context">Its context.</param>
    public ServicesMeters CreateMeters(object node, ZlinkContext context)
    {
        var meters = new ServicesMeters("spot", node, context);
        meters.Counter("published", () => path.Published, "{message}", "Publications that were accepted");
        meters.Counter("received", () => dispatch.Received, "{message}", "Messages from other nodes");
        meters.Counter("unmatched", () => dispatch.Unmatched, "{message}", "Messages from other nodes that matched no subscription");
        meters.Counter("delivered", () => subscribers.Statistics.Sum.Matched, "{message}",
            "Messages for subscribers, counted once per subscriber");
        meters.Counter("dropped", Dropped, "{message}", "Messages that were dropped, by cause");
        meters.Gauge("queued", () => subscribers.Statistics.Sum.Queued, "{message}", "Messages that wait for subscribers");
        meters.Counter("gaps", () => peers.Gaps.Count, "{gap}", "Connections that were lost and re-established: messages may be missing");
        meters.Gauge("peers", () => peers.ConnectedCount, "{node}", "Nodes that this one is connected to");
        return meters;
    }

    /// <param name="id">The node's.</param>
    /// <param name="publishers">What it is connected to.</param>
    /// <param name="followers">What is connected to it.</param>
    public string Describe(RoutingId id, IReadOnlyList<PeerInfo> publishers, IReadOnlyList<PeerInfo> followers)
    {
        var text = new StringBuilder();
        text.AppendLine(CultureInfo.InvariantCulture, $"SPOT node {id}, bound to {string.Join(", ", path.Socket?.BoundEndpoints ?? [])}");
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
            text.AppendLine(CultureInfo.InvariantCulture, $"  {registration.Service} at {registration.Endpoint}: {registration.State}");
            foreach (RegistryStatus status in registration.GetRegistries())
            {
                text.AppendLine(CultureInfo.InvariantCulture,
                    $"    {status.RegistryEndpoint}: {status.State}, last heartbeat at {status.LastHeartbeatAt:O} {status.Detail}");
            }
        }

        return text.ToString();
    }

    private IEnumerable<Measurement<long>> Dropped()
    {
        yield return ServicesMeters.Tagged(subscribers.Statistics.Sum.Dropped, "cause", "subscriber");
        yield return ServicesMeters.Tagged(path.Queue?.Dropped ?? 0, "cause", "publish_queue");
        yield return ServicesMeters.Tagged(dispatch.LongTopics, "cause", "long_topic");
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
