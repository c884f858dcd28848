using System.Globalization;
using Xunit;

namespace Net.Zlink.Services.Tests.Clusters;

/// <summary>Registries in a full mesh on a clock that a test moves: links with latency that keep the order, cuts, restarts, receivers that
/// register, heartbeat, leave or die.</summary>
internal sealed class Cluster
{
    public static readonly TimeSpan HeartbeatTimeout = TimeSpan.FromSeconds(3);
    public static readonly TimeSpan BroadcastInterval = TimeSpan.FromSeconds(2);
    public static readonly TimeSpan PeerTimeout = BroadcastInterval * 3;
    private static readonly TimeSpan Step = TimeSpan.FromMilliseconds(50);
    private static readonly TimeSpan HeartbeatInterval = TimeSpan.FromSeconds(1);

    private readonly Random _random;
    private readonly ClusterNode[] _nodes;
    private readonly uint[] _ids;
    private readonly HashSet<string>[] _alive;
    private readonly Link[] _links;
    private TimeSpan _now;

    public Cluster(int seed, int nodes, int natives)
    {
        _random = new Random(seed);
        _ids = [.. Enumerable.Range(1, nodes).Select(static i => (uint)i)];
        _alive = [.. Enumerable.Range(0, nodes).Select(static _ => new HashSet<string>(StringComparer.Ordinal))];
        _nodes = [.. Enumerable.Range(0, nodes).Select(
            i => i < natives ? (ClusterNode)new NativeNode(_ids[i]) : new ManagedNode(_ids[i], ClockSequence(), _now))];
        _links = [.. from i in Enumerable.Range(0, nodes) from j in Enumerable.Range(0, nodes) where i != j select new Link(i, j)];
        foreach (Link link in _links)
        {
            Connect(link);
        }
    }

    /// <summary>Random operations for a while.</summary>
    public void Disturb(int operations, bool cuts, bool restarts)
    {
        for (int i = 0; i < operations; i++)
        {
            int at = _random.Next(_nodes.Length);
            string key = $"{"ab"[_random.Next(2)]}{_random.Next(4)}";
            switch (_random.Next(cuts ? restarts ? 12 : 11 : 8))
            {
                case < 4:
                    _nodes[at].Register(_now, key, (uint)at + 1); // The weight tells whose entry a list shows.
                    _alive[at].Add(key);
                    break;
                case < 7:
                    _nodes[at].Unregister(_now, key);
                    _alive[at].Remove(key);
                    break;
                case < 8:
                    _alive[at].Remove(key); // It dies: no heartbeats, no UNREGISTER.
                    break;
                case < 11:
                    Link link = _links[_random.Next(_links.Length)];
                    if (link.IsUp)
                    {
                        Cut(link);
                    }
                    else
                    {
                        Connect(link);
                    }

                    break;
                default:
                    Restart(at);
                    break;
            }

            Run(TimeSpan.FromMilliseconds(_random.Next(1, 800)));
        }
    }

    /// <summary>Everything is connected; when every timeout is over, all list the same, which is the union of what is registered, and no
    /// more lists are sent than the periodic ones.</summary>
    public void AssertConverges(string run)
    {
        foreach (Link link in _links.Where(static link => !link.IsUp))
        {
            Connect(link);
        }

        Run(PeerTimeout + HeartbeatTimeout + (BroadcastInterval * 2));
        int lists = _nodes.Sum(static node => node.ChangedLists);
        Run(BroadcastInterval * 3);
        HashSet<string> union = [.. _nodes.SelectMany(static node => node.Own)];
        string[] keys = [.. union.Select(Key).Distinct(StringComparer.Ordinal).Order(StringComparer.Ordinal)];
        for (int i = 0; i < _nodes.Length; i++)
        {
            IReadOnlySet<string> listed = _nodes[i].Listed;
            string state = string.Create(CultureInfo.InvariantCulture,
                $"{run}: registry {i} lists [{string.Join(", ", listed.Order(StringComparer.Ordinal))}], registered are "
                + $"[{string.Join(", ", union.Order(StringComparer.Ordinal))}]");
            Assert.True(listed.Select(Key).Order(StringComparer.Ordinal).SequenceEqual(keys, StringComparer.Ordinal),
                $"not the union: {state}");
            Assert.True(listed.IsSubsetOf(union), $"an entry as nobody registered it: {state}");
        }

        Assert.True(lists == _nodes.Sum(static node => node.ChangedLists), $"{run}: lists are sent although nothing changes");
    }

    private static string Key(string entry) => entry[..entry.IndexOf(' ', StringComparison.Ordinal)];

    private void Run(TimeSpan time)
    {
        for (TimeSpan end = _now + time; _now < end;)
        {
            TimeSpan before = _now;
            _now += Step;
            foreach (Link link in _links)
            {
                while (link.Queue.TryPeek(out (TimeSpan At, SentList List) first) && first.At <= _now)
                {
                    link.Queue.Dequeue();
                    _nodes[link.To].Take(_now, link.Connection!, first.List);
                }
            }

            bool isHeartbeat = before.Ticks / HeartbeatInterval.Ticks != _now.Ticks / HeartbeatInterval.Ticks;
            for (int i = 0; i < _nodes.Length; i++)
            {
                if (isHeartbeat)
                {
                    foreach (string key in _alive[i])
                    {
                        _nodes[i].Heartbeat(_now, key);
                    }
                }

                Send(_links.Where(link => link.From == i && link.IsUp), _nodes[i].Tick(_now));
            }
        }
    }

    private void Send(IEnumerable<Link> links, IReadOnlyList<SentList> lists)
    {
        foreach (Link link in links)
        {
            foreach (SentList list in lists)
            {
                TimeSpan at = _now + TimeSpan.FromMilliseconds(_random.Next(1, 300));
                link.Last = at > link.Last ? at : link.Last; // A connection keeps the order.
                link.Queue.Enqueue((link.Last, list));
            }
        }
    }

    private void Connect(Link link)
    {
        link.Connection = _nodes[link.To].Connected(link.From);
        link.IsUp = true;
        Send([link], _nodes[link.From].Greeting());
    }

    private void Cut(Link link)
    {
        link.IsUp = false;
        link.Queue.Clear();
        _nodes[link.To].Disconnected(_now, link.Connection!);
    }

    private void Restart(int at)
    {
        Link[] links = [.. _links.Where(link => (link.From == at || link.To == at) && link.IsUp)];
        Array.ForEach(links, Cut);
        uint id = _random.Next(2) == 0 ? _ids[at] : _ids[at] + 100;
        _ids[at] = id;
        _alive[at].Clear();
        _nodes[at] = new ManagedNode(id, id > 100 ? 0 : ClockSequence(), _now);
        Array.ForEach(links, Connect);
    }

    private ulong ClockSequence() => (ulong)(1_700_000_000_000 + _now.TotalMilliseconds) << 20;

    private sealed class Link(int from, int to)
    {
        public int From => from;

        public int To => to;

        public bool IsUp { get; set; }

        public object? Connection { get; set; }

        public TimeSpan Last { get; set; }

        public Queue<(TimeSpan At, SentList List)> Queue { get; } = new();
    }
}
