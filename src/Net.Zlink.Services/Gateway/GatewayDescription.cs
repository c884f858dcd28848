using System.Globalization;
using System.Text;

namespace Net.Zlink.Services;

/// <summary>What an operator asks first: which services, which receivers, since when, and why not.</summary>
internal static class GatewayDescription
{
    public static ReceiverLinkInfo InfoOf(ReceiverLink link, PeerInfo? peer) => new()
    {
        Endpoint = link.Endpoint,
        Instances = [.. link.Listings.Select(static listing => listing.Pool.Listed.Instances[listing.Index])],
        IsReady = link.IsInPools,
        IsDraining = link is { IsDraining: true, State: LinkState.Ready },
        IsEjected = link.IsUsable && link.IsEjected,
        WhyNotReady = link.IsInPools ? null : RequestFailure.WhyNotReady(link),
        Since = link.Since,
        Connections = link.Connections,
        OutstandingRequests = link.Outstanding,
        QueuedMessages = peer?.Outbound.Messages ?? 0,
        SentMessages = peer?.MessagesSent ?? 0,
    };

    public static GatewayStatistics StatisticsOf(
        ReceiverLink[] links, Requests requests, UnreadMessages unread, RouterSocket router)
    {
        RequestCounters counters = requests.Counters;
        return new GatewayStatistics(router.GetStatistics())
        {
            ReadyReceivers = links.Count(static link => link.IsInPools),
            Receivers = links.Length,
            EjectedReceivers = links.Count(static link => link.IsUsable && link.IsEjected),
            Ejections = requests.Ejections.Count,
            OutstandingRequests = requests.Pending.Count,
            StartedRequests = Volatile.Read(ref counters.Started),
            AnsweredRequests = counters[RequestOutcomeKind.Replied],
            FailedRequests = counters[RequestOutcomeKind.Failed],
            RefusedRequests = counters[RequestOutcomeKind.Refused],
            LostRequests = counters[RequestOutcomeKind.Lost],
            TimedOutRequests = counters[RequestOutcomeKind.TimedOut],
            CancelledRequests = counters[RequestOutcomeKind.Cancelled],
            UnservedRequests = counters[RequestOutcomeKind.NoReceiver],
            AbandonedRequests = counters[RequestOutcomeKind.Ended],
            RequestsSentAgain = Volatile.Read(ref counters.SentAgain),
            UnmatchedReplies = Volatile.Read(ref counters.UnmatchedReplies),
            UnreadMessages = unread.Count,
            UnreadBytes = unread.Bytes,
            DroppedMessages = unread.Dropped,
        };
    }

    public static string Of(
        IReadOnlyList<ReceiverLinkInfo> receivers, IEnumerable<(string Service, LoadBalancing LoadBalancing, int Ready)> services,
            GatewayStatistics statistics)
    {
        var text = new StringBuilder();
        text.Append(CultureInfo.InvariantCulture,
            $"gateway: {statistics.ReadyReceivers} of {statistics.Receivers} receivers ready, {statistics.EjectedReceivers} ejected, "
            + $"{statistics.OutstandingRequests} requests "
            + $"outstanding, ");
        text.Append(CultureInfo.InvariantCulture,
            $"{statistics.AnsweredRequests} of {statistics.StartedRequests} answered, {statistics.UnmatchedReplies} late replies, "
            + $"{statistics.DroppedMessages} messages dropped").AppendLine();
        foreach ((string service, LoadBalancing loadBalancing, int ready) in services)
        {
            text.Append(CultureInfo.InvariantCulture, $"  {service}: {ready} ready, {loadBalancing}").AppendLine();
        }

        foreach (ReceiverLinkInfo receiver in receivers)
        {
            string listed = receiver.Instances.Count == 0 ? "listed no more"
                : string.Join(", ", receiver.Instances.Select(
                static instance => string.Create(CultureInfo.InvariantCulture,
                $"{instance.Service} weight {instance.Weight} id {instance.RoutingId}")));
            text.Append(CultureInfo.InvariantCulture,
                $"  {new RedactedEndpoint(receiver.Endpoint)} ({listed}): {receiver.WhyNotReady ?? "ready"} since {receiver.Since:O}, "
                + $"connected {receiver.Connections} times, {receiver.OutstandingRequests} outstanding, {receiver.QueuedMessages} queued")
                .AppendLine();
        }

        return text.ToString();
    }

    /// <summary>How many receivers are in each state. Ready ones are always among them, so that an alarm sees zero.</summary>
    public static IEnumerable<Reading> StatesOf(ReceiverLink[] links) =>
        links.CountBy(static link => link.IsInPools ? "ready" : link.IsUsable ? "ejected" : link.State switch
        {
            LinkState.Ready => "draining",
            LinkState.Connecting => "connecting",
            _ => "lost",
        })
            .Append(new KeyValuePair<string, int>("ready", 0))
            .Select(static state => Reading.InState(state.Value, state.Key));
}

/// <summary>What is measured of a gateway as a whole.</summary>
internal sealed record GatewayMetrics(Requests Requests, UnreadMessages Unread);
