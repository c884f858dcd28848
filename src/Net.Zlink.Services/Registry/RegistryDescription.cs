using System.Diagnostics.Metrics;
using static System.FormattableString;

namespace Net.Zlink.Services;

/// <summary>What an operator sees of a registry: text and instruments.</summary>
internal static class RegistryDescription
{
    // A person reads this; 10,000 entries would hide the peers.
    private const int MaxEntriesShown = 100;

    public static string Of(RegistrySnapshot snapshot, string publisher, string router, DateTimeOffset now)
    {
        int further = snapshot.Entries.Count - MaxEntriesShown;
        string[] lines =
        [
            Invariant($"registry {snapshot.Id}: publisher {publisher}, router {router}"),
            Invariant($"list {snapshot.Sequence}: {snapshot.Entries.Count} entries, {snapshot.OwnEntries} of them own; ")
                + Invariant($"{snapshot.Subscribers} subscribers, {snapshot.Clients} clients, ")
                + Invariant($"{snapshot.UndecidedClients} of them wait for a decision"),
            Invariant($"requests {snapshot.Requests}, refused {snapshot.RefusedRequests}, malformed {snapshot.MalformedMessages}, ")
                + Invariant($"expired {snapshot.ExpiredEntries}, lists sent {snapshot.ListsSent}, lists of peers {snapshot.PeerLists}"),
            .. snapshot.Peers.Select(peer => Of(peer, now)),
            .. snapshot.Entries.Take(MaxEntriesShown).Select(entry => Of(entry, now)),
            .. further > 0 ? [Invariant($"and {further} further entries")] : Array.Empty<string>(),
        ];
        return string.Concat(lines.Select(static line => line + "\n"));
    }

    private static string Of(RegistryView peer, DateTimeOffset now) =>
        $"peer {new RedactedEndpoint(peer.Endpoint)}: {(peer.IsConnected ? "connected" : "not connected")}, " + (peer.LastListAt is { } at
            ? Invariant($"registry {peer.RegistryId}, list {peer.Sequence} with {peer.Instances} instances, {Age(now, at)} ago")
            : "no list yet");

    private static string Of(RegistryEntry entry, DateTimeOffset now) =>
        Invariant($"{entry.Kind} {entry.Instance.Service} at {new RedactedEndpoint(entry.Instance.Endpoint)}, ")
        + Invariant($"id {entry.Instance.RoutingId}, weight {entry.Instance.Weight}, ")
        + (entry is { RegisteredAt: { } registered, LastHeartbeatAt: { } last }
            ? $"own, registered {Age(now, registered)} ago, last heartbeat {Age(now, last)} ago"
            : Invariant($"of registry {entry.OwnerId}"));

    public static ServicesMeters Meters(object registry, ZlinkContext context, Func<RegistrySnapshot> snapshot)
    {
        var meters = new ServicesMeters("registry", registry, context);
        meters.Gauge("entries", () => ByOwner(snapshot()), "{entry}", "Entries that are listed, own and learned.");
        meters.Gauge("peers", () => ByState(snapshot()), "{registry}", "Peer registries, by whether they are connected.");
        meters.Gauge("subscribers", () => snapshot().Subscribers, "{peer}", "Discoveries and peers that follow the list.");
        meters.Counter("requests", () => snapshot().Requests, "{request}", "Requests read.");
        meters.Counter("refused", () => snapshot().RefusedRequests, "{request}", "Requests answered with a status other than 0.");
        meters.Counter("malformed", () => snapshot().MalformedMessages, "{message}", "Messages that are not valid requests.");
        meters.Counter("expired", () => snapshot().ExpiredEntries, "{entry}", "Own entries without a heartbeat in time.");
        meters.Counter("lists", () => snapshot().ListsSent, "{list}", "Lists sent: broadcasts, and answers to new subscribers.");
        meters.Counter("peer_lists", () => snapshot().PeerLists, "{list}", "Lists of peers that were accepted.");
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
        Invariant($"{Math.Max((now - at).TotalSeconds, 0):0.0} s");
}
