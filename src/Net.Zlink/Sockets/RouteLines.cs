using Net.Zlink.Engine;
using Net.Zlink.Sockets.Pipes;
using Net.Zlink.Sockets.Routing;

namespace Net.Zlink.Sockets;

/// <summary>Sends that wait for one peer, or for whomever the socket chooses, in the order in which they came.</summary>
internal sealed class RouteLine
{
    /// <summary>Those who wait.</summary>
    public WaiterList<RoutedSendWaiter> Waiters;

    /// <summary>It is to be moved, and stands in the list of those that are.</summary>
    public bool IsToMove { get; set; }

    public RouteLine? NextToMove { get; set; }
}

/// <summary>Who waits at one socket, in a line for each peer that somebody waits for. Not thread-safe: under the lock of the <see cref="SendLine"/>.</summary>
internal sealed class RouteLines
{
    // Lines kept for the next wait, so that a wait allocates nothing in steady state: as many as waiters are kept.
    private const int MaxSpare = 64;

    private readonly HashSet<RouteLine> _lines = new(ByRoute.Instance);
    private readonly Dictionary<PeerSlot, RouteLine> _ofConnections = [];
    private readonly Stack<RouteLine> _spare = [];

    /// <summary>Those who leave it to the socket whom their message goes to.</summary>
    public RouteLine Anyone { get; } = new();

    /// <summary>The lines of peers and connections, each with somebody in it.</summary>
    public IEnumerable<RouteLine> All => _lines.Concat(_ofConnections.Values);

    /// <summary>The line of those who wait for one peer; null if nobody does.</summary>
    public RouteLine? Find(ReadOnlySpan<byte> routeId) => _lines.Count > 0 && _lines.GetAlternateLookup<ReadOnlySpan<byte>>().TryGetValue(routeId, out RouteLine? line) ? line : null;

    /// <summary>The line of those who wait for one connection; null if nobody does.</summary>
    public RouteLine? Find(PeerSlot connection) => _ofConnections.Count > 0 ? _ofConnections.GetValueOrDefault(connection) : null;

    /// <summary>Puts a waiter at the end of its line.</summary>
    public RouteLine Add(RoutedSendWaiter waiter)
    {
        RouteLine? line = waiter.Connection is { } connection ? Find(connection) : waiter.HasRoute ? Find(waiter.RouteId) : Anyone;
        bool isNew = line is null;
        line ??= _spare.Count > 0 ? _spare.Pop() : new RouteLine();
        line.Waiters.Add(waiter);
        waiter.Line = line;
        if (isNew && waiter.Connection is { } key)
        {
            _ofConnections.Add(key, line);
        }
        else if (isNew)
        {
            _lines.Add(line);
        }

        return line;
    }

    /// <summary>Takes a waiter out of its line. False if it stands in none.</summary>
    public bool Remove(RoutedSendWaiter waiter)
    {
        if (waiter.Line is not { } line)
        {
            return false;
        }

        if ((waiter.HasRoute || waiter.Connection is not null) && waiter is { Previous: null, Next: null })
        {
            // While its last waiter says whose it is.
            if (waiter.Connection is { } connection)
            {
                _ofConnections.RemoveAndTrim(connection, out _);
            }
            else
            {
                _lines.RemoveAndTrim(line);
            }

            if (_spare.Count < MaxSpare)
            {
                _spare.Push(line);
            }
        }

        waiter.Line = null;
        return line.Waiters.Remove(waiter);
    }

    /// <summary>Takes everybody out, linked.</summary>
    public RoutedSendWaiter? TakeAll()
    {
        RoutedSendWaiter? all = null;
        TakeAll(Anyone, ref all);
        foreach (RouteLine line in All)
        {
            TakeAll(line, ref all);
        }

        _lines.Clear();
        _ofConnections.Clear();
        return all;
    }

    private static void TakeAll(RouteLine line, ref RoutedSendWaiter? all)
    {
        while (line.Waiters.First is { } waiter)
        {
            line.Waiters.Remove(waiter);
            waiter.Line = null;
            waiter.Next = all;
            all = waiter;
        }
    }

    /// <summary>A line is found by the peer that its first waiter names, as all others in it do.</summary>
    private sealed class ByRoute : IEqualityComparer<RouteLine>, IAlternateEqualityComparer<ReadOnlySpan<byte>, RouteLine>
    {
        public static readonly ByRoute Instance = new();

        public bool Equals(RouteLine? x, RouteLine? y) => ReferenceEquals(x, y);

        public bool Equals(ReadOnlySpan<byte> alternate, RouteLine other) => alternate.SequenceEqual(other.Waiters.First!.RouteId);

        public int GetHashCode(RouteLine obj) => RoutingIdComparer.Instance.GetHashCode(obj.Waiters.First!.RouteId);

        public int GetHashCode(ReadOnlySpan<byte> alternate) => RoutingIdComparer.Instance.GetHashCode(alternate);

        public RouteLine Create(ReadOnlySpan<byte> alternate) => throw new NotSupportedException("A line is made with its first waiter.");
    }
}
