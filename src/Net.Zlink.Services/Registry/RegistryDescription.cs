using System.Diagnostics.Metrics;
using System.Globalization;
using System.Text;

namespace Net.Zlink.Services;

/// <summary>What an operator sees of a registry: text and instruments.</summary>
internal static class RegistryDescription
{
    // A person reads this; 10,000 entries would hide the peers.
    private const int MaxEntriesShown = 100;

    public static string Of(RegistrySnapshot snapshot, string publisher, string router, DateTimeOffset now)
    {
        var text = new StringBuilder();
        text.Append(CultureInfo.InvariantCulture, $"registry {snapshot.Id}: publisher {publisher}, router {router}\n");
        text.Append(CultureInfo.InvariantCulture,
            $"list {snapshot.Sequence}: {snapshot.Entries.Count} entries, {snapshot.OwnEntries} of them own; ");
        text.Append(CultureInfo.InvariantCulture, $"{snapshot.Subscribers} subscribers\n");
        text.Append(CultureInfo.InvariantCulture, $"requests {snapshot.Requests}, refused {snapshot.RefusedRequests}, ");
        text.Append(CultureInfo.InvariantCulture, $"malformed {snapshot.MalformedMessages}, expired {snapshot.ExpiredEntries}, ");
        text.Append(CultureInfo.InvariantCulture, $"lists sent {snapshot.ListsSent}, lists of peers {snapshot.PeerLists}\n");
        foreach (RegistryView peer in snapshot.Peers)
        {
            text.Append(CultureInfo.InvariantCulture, $"peer {peer.Endpoint}: {(peer.IsConnected ? "connected" : "not connected")}, ");
            text.Append(peer.LastListAt is { } at
                ? string.Create(CultureInfo.InvariantCulture,
                    $"registry {peer.RegistryId}, list {peer.Sequence} with {peer.Instances} instances, {Age(now, at)} ago\n")
                : "no list yet\n");
        }

        foreach (RegistryEntry entry in snapshot.Entries.Take(MaxEntriesShown))
        {
            text.Append(CultureInfo.InvariantCulture, $"{entry.Kind} {entry.Instance.Service} at {entry.Instance.Endpoint}, ");
            text.Append(CultureInfo.InvariantCulture, $"id {entry.Instance.RoutingId}, weight {entry.Instance.Weight}, ");
            text.Append(entry is { RegisteredAt: { } registered, LastHeartbeatAt: { } last }
                ? string.Create(CultureInfo.InvariantCulture,
                    $"own, registered {Age(now, registered)} ago, last heartbeat {Age(now, last)} ago\n")
                : string.Create(CultureInfo.InvariantCulture, $"of registry {entry.OwnerId}\n"));
        }

        if (snapshot.Entries.Count > MaxEntriesShown)
        {
            text.Append(CultureInfo.InvariantCulture, $"and {snapshot.Entries.Count - MaxEntriesShown} further entries\n");
        }

        return text.ToString();
    }

    public static ServicesMeters Meters(object registry, ZlinkContext context, Func<RegistrySnapshot> snapshot)
    {
        var meters = new ServicesMeters("registry", registry, context);
        meters.Gauge("entries", () => ByOwner(snapshot()), "{entry}", "Entries that are listed, own and learned.");
        meters.Gauge("peers", () => ByState(snapshot()), "{registry}", "Peer registries, by whether they are connected.");
        meters.Gauge("subscribers", () => snapshot().Subscribers, "{peer}", "Discoveries and peers that follow the list.");
        meters.Counter("requests", () => snapshot().Requests, "{request}", "Requests read.");
        meters.Counter("refused", () => snapshot().RefusedRequests, "{request}", "Requests answered with another status than 0.");
        meters.Counter("malformed", () => snapshot().MalformedMessages, "{message}", "Messages that mean nothing.");
        meters.Counter("expired", () => snapshot().ExpiredEntries, "{entry}", "Own entries without a heartbeat in time.");
        meters.Counter("lists", () => snapshot().ListsSent, "{list}", "Lists sent: broadcasts, and answers to new subscribers.");
        meters.Counter("peer_lists", () => snapshot().PeerLists, "{list}", "Lists of peers that were taken.");
        return meters;
    }

    private static IEnumerable<Measurement<long>> ByOwner(RegistrySnapshot snapshot) =>
    [
        ServicesMeters.Tagged(snapshot.OwnEntries, "state", "own"),
        ServicesMeters.Tagged(snapshot.Entries.Count - snapshot.OwnEntries, "state", "learned"),
    ];

    private static IEnumerable<Measurement<long>> ByState(RegistrySnapshot snapshot) =>
        from count in snapshot.Peers.CountBy(static peer => peer.IsConnected)
        select ServicesMeters.Tagged(count.Value, "state", count.Key ? "connected" : "disconnected");

    private static string Age(DateTimeOffset now, DateTimeOffset at) =>
        string.Create(CultureInfo.InvariantCulture, $"{Math.Max((now - at).TotalSeconds, 0):0.0} s");
}
