using System.Globalization;
using Net.Zlink;
using Net.Zlink.Services;

namespace Samples.GameRooms;

/// <summary>One node process: a SPOT node, and the bots of its stripe of the map.</summary>
internal sealed class GameNode : IAsyncDisposable
{
    private const int SlowCapacity = 100;

    private readonly ZlinkContext _context = new();
    private readonly RegistryDirectory _discovery;
    private readonly List<Bot> _bots = [];
    private readonly CancellationTokenSource _stop = new();

    public GameNode(string publisher, string router, bool remembers = false)
    {
        Sightings = new Sightings { IsRemembering = remembers };
        _discovery = new RegistryDirectory(_context, ServiceKind.SpotNode);
        _discovery.ConnectRegistry(publisher);
        Node = new SpotNode(_context);
        Endpoint = Node.Bind("tcp://127.0.0.1:*");
        Node.ConnectRegistry(router);
        Slow = Node.CreateSubscriber(new SpotSubscriberOptions { Capacity = SlowCapacity, Overflow = SpotOverflow.DropOldest });
    }

    public ZlinkContext Context => _context;

    public SpotNode Node { get; }

    public string Endpoint { get; }

    public Sightings Sightings { get; }

    public IReadOnlyList<Bot> Bots => _bots;

    /// <summary>Wants everything once it is subscribed, and never reads.</summary>
    public SpotSubscriber Slow { get; }

    /// <summary>All nodes that the registry lists, by their endpoints: this one's place in it says which stripe is its own.</summary>
    public string[] Nodes => [.. _discovery.GetService(SpotNode.DefaultService).Instances.Select(static instance => instance.Endpoint)];

    /// <summary>Registers, and finds the others.</summary>
    public async Task JoinAsync(int nodes, CancellationToken cancellation)
    {
        Node.UseDirectory(_discovery);
        await Node.RegisterAsync(SpotNode.DefaultService, Endpoint, cancellation).ConfigureAwait(false);
        await _discovery.WaitForAsync(SpotNode.DefaultService, nodes, cancellation).ConfigureAwait(false);
        await Node.WaitForPeersAsync(nodes - 1, cancellation).ConfigureAwait(false);
    }

    /// <summary>Makes the bots of this node, and forgets those that it had.</summary>
    public async Task PopulateAsync()
    {
        foreach (Bot bot in _bots)
        {
            await bot.DisposeAsync().ConfigureAwait(false);
        }

        _bots.Clear();
        string[] nodes = Nodes;
        int self = Array.IndexOf(nodes, Endpoint);
        if (self < 0)
        {
            return; // Not listed yet, or not any more.
        }

        (float X, float Y)[] places = Field.Places(nodes.Length);
        (int first, int count) = Field.BotsOf(self, nodes.Length).GetOffsetAndLength(Field.Bots);
        for (int id = first; id < first + count; id++)
        {
            _bots.Add(new Bot(Node, id, places[id], Sightings.Add));
        }
    }

    /// <summary>Completes when every other node has all subscriptions of this one: those that they had before this one was made have
    /// arrived before it.</summary>
    public async Task SynchronizeAsync(CancellationToken cancellation)
    {
        string[] others = [.. Nodes.Where(node => !string.Equals(node, Endpoint, StringComparison.Ordinal))];
        await using SpotSubscriber subscriber = Node.CreateSubscriber();
        subscriber.Subscribe($"sync:{Endpoint}");
        HashSet<string> heard = new(StringComparer.Ordinal);
        _ = CallAsync(others, _stop.Token); // On until the end: others may wait for this one for longer.
        while (heard.Count < others.Length)
        {
            using SpotMessage message = await subscriber.ReceiveAsync(cancellation).ConfigureAwait(false);
            heard.Add(message.GetString());
        }
    }

    public async ValueTask DisposeAsync()
    {
        await _stop.CancelAsync().ConfigureAwait(false);
        await Node.DisposeAsync().ConfigureAwait(false);
        await _discovery.DisposeAsync().ConfigureAwait(false);
        await _context.DisposeAsync().ConfigureAwait(false);
        _stop.Dispose();
    }

    public override string ToString()
    {
        (int p50, int p99) = Sightings.Ages();
        return string.Create(CultureInfo.InvariantCulture,
            $"{_bots.Count} bots, {Sightings.Count:N0} messages seen, p50 {p50} us, p99 {p99} us, slow subscriber dropped "
            + $"{Slow.GetStatistics().Dropped:N0}, bots dropped {_bots.Sum(static bot => bot.Statistics.Dropped):N0}");
    }

    private async Task CallAsync(string[] others, CancellationToken cancellation)
    {
        byte[] name = System.Text.Encoding.UTF8.GetBytes(Endpoint);
        using var timer = new PeriodicTimer(TimeSpan.FromMilliseconds(20));
        while (await timer.WaitForNextTickAsync(cancellation).ConfigureAwait(false))
        {
            foreach (string other in others)
            {
                Node.TryPublish($"sync:{other}", name);
            }
        }
    }
}
