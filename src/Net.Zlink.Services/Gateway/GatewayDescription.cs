using System.Diagnostics.Metrics;
using System.Globalization;
using System.Text;

namespace Net.Zlink.Services;

/// <summary>What an operator asks first: which services, which receivers, since when, and why not.</summary>
internal static class GatewayDescription
{
    private static readonly (string Name, RequestOutcomeKind Kind)[] Results =
    [
        ("answered", RequestOutcomeKind.Replied),
        ("failed", RequestOutcomeKind.Failed),
        ("refused", RequestOutcomeKind.Refused),
        ("lost", RequestOutcomeKind.Lost),
        ("timed_out", RequestOutcomeKind.TimedOut),
        ("cancelled", RequestOutcomeKind.Cancelled),
        ("no_receiver", RequestOutcomeKind.NoReceiver),
        ("abandoned", RequestOutcomeKind.Ended),
    ];

    public static ReceiverLinkInfo InfoOf(ReceiverLink link, PeerInfo? peer) => new()
    {
        Endpoint = link.Endpoint,
        Instances = [.. link.Listings.Select(static listing => listing.Pool.Listed.Instances[listing.Index])],
        IsReady = link.IsInPools,
        IsDraining = link.IsDraining,
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

    public static ServicesMeters Meters(
        object gateway, ZlinkContext context, LinkTable links, Requests requests, UnreadMessages unread)
    {
        var meters = new ServicesMeters("gateway", gateway, context);
        RequestCounters counters = requests.Counters;
        meters.Gauge("receivers", () => StatesOf(links.All), "{receiver}", "Receivers that are connected to, by state");
        meters.Gauge("outstanding", () => requests.Pending.Count, "{request}", "Requests that have not ended");
        meters.Counter("requests", () => Results.Select(result => ServicesMeters.Tagged(counters[result.Kind], "result", result.Name)),
            "{request}", "Requests that have ended, by result");
        meters.Counter("sent_again", () => Volatile.Read(ref counters.SentAgain), "{request}",
            "Requests that were sent to another receiver after the first");
        meters.Counter("ejections", () => requests.Ejections.Count, "{ejection}",
            "Receivers that were ejected because they left requests unanswered");
        meters.Counter("unmatched_replies", () => Volatile.Read(ref counters.UnmatchedReplies), "{message}",
            "Replies without a waiting request");
        meters.Gauge("unread_bytes", () => unread.Bytes, "By", "Bytes of messages that the application has not received yet");
        meters.Counter("dropped_messages", () => unread.Dropped, "{message}",
            "Messages that the application did not receive");
        requests.Duration = meters.Histogram("request.duration", "s", "Time from the start of a request to its end");
        return meters;
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

    private static IEnumerable<Measurement<long>> StatesOf(ReceiverLink[] links) =>
        links.CountBy(static link => link.IsInPools ? "ready" : link.IsUsable ? "ejected" : link.IsDraining ? "draining"
            : link.State == LinkState.Connecting ? "connecting" : "lost")
            .Select(static state => ServicesMeters.Tagged(state.Value, "state", state.Key));
}
