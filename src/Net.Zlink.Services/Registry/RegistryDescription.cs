using static System.FormattableString;

namespace Net.Zlink.Services;

/// <summary>What an operator sees of a registry.</summary>
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

    private static string Age(DateTimeOffset now, DateTimeOffset at) =>
        Invariant($"{Math.Max((now - at).TotalSeconds, 0):0.0} s");
}

/// <summary>What is measured of a registry.</summary>
/// <param name="Id">Its number, as metrics name it.</param>
/// <param name="Snapshot">Its state.</param>
internal sealed record RegistryMetrics(string Id, Func<RegistrySnapshot> Snapshot)
{
    public IEnumerable<Reading> Entries()
    {
        RegistrySnapshot snapshot = Snapshot();
        return
        [
            Reading.InState(snapshot.OwnEntries, "own"),
            Reading.InState(snapshot.Entries.Count - snapshot.OwnEntries, "learned"),
        ];
    }

    public IEnumerable<Reading> Peers() => RegistryView.ConnectionStates(Snapshot().Peers);
}
