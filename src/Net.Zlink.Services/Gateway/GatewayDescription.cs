using System.Globalization;
using System.Text;

namespace Net.Zlink.Services;

/// <summary>What an operator asks first: which services, which receivers, since when, and why not.</summary>
internal static class GatewayDescription
{
    public static ReceiverLinkInfo InfoOf(ReceiverLink link, PeerInfo? peer) => new()
    {
        Endpoint = link.Endpoint,
        Instances = [.. link.Pools.Select(pool =>
            pool.Listed.Instances.First(instance => string.Equals(instance.Endpoint, link.Endpoint, StringComparison.Ordinal)))],
        IsReady = link.IsInPools,
        IsDraining = link.IsDraining,
        WhyNotReady = link.IsInPools ? null : RequestFailure.WhyNotReady(link),
        Since = link.Since,
        Connections = link.Connections,
        OutstandingRequests = link.Outstanding,
        QueuedMessages = peer?.Outbound.Messages ?? 0,
        SentMessages = peer?.MessagesSent ?? 0,
    };

    public static string Of(
        IReadOnlyList<ReceiverLinkInfo> receivers, IEnumerable<(string Service, LoadBalancing LoadBalancing, int Ready)> services,
            GatewayStatistics statistics)
    {
        var text = new StringBuilder();
        text.Append(CultureInfo.InvariantCulture,
            $"gateway: {statistics.ReadyReceivers} of {statistics.Receivers} receivers ready, {statistics.OutstandingRequests} requests "
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
                $"  {receiver.Endpoint} ({listed}): {receiver.WhyNotReady ?? "ready"} since {receiver.Since:O}, connected "
                + $"{receiver.Connections} times, {receiver.OutstandingRequests} outstanding, {receiver.QueuedMessages} queued")
                .AppendLine();
        }

        return text.ToString();
    }
}
