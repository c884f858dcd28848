using System.Buffers.Binary;
using System.Globalization;
using Net.Zlink.Services;

namespace Net.Zlink.Scenarios.Patterns.Services.Chaos;

/// <summary>A SPOT node that publishes at a steady rate and writes down all that it receives.</summary>
internal sealed class ChaosSpot : IChaosPart
{
    private const string Prefix = "chaos/";
    private const int Topics = 8;
    private const int Size = 64;

    private readonly RegistryDirectory _discovery;
    private readonly SpotNode _node;
    private readonly SpotSubscriber _subscriber;
    private readonly ChaosSettings _settings;
    private readonly ChaosLog _log;
    private readonly CancellationTokenSource _stop = new();
    private readonly SteadyRate _rate;
    private readonly Task _publishing;
    private readonly Task _receiving;
    private readonly byte[] _payload = new byte[Size];
    private readonly string[] _topics =
        [.. Enumerable.Range(0, Topics).Select(static topic => string.Create(CultureInfo.InvariantCulture, $"{Prefix}{topic}"))];
    private long _received;

    public ChaosSpot(ZlinkContext context, ChaosSettings settings, ChaosLog log)
    {
        (_settings, _log) = (settings, log);
        _discovery = new RegistryDirectory(context, ServiceKind.SpotNode);
        foreach (string registry in settings.Publishers)
        {
            _discovery.ConnectRegistry(registry);
        }

        _node = new SpotNode(context);
        _node.Bind(settings.Endpoint);
        foreach (string registry in settings.Routers)
        {
            _node.ConnectRegistry(registry);
        }

        _node.Register();
        _node.UseDirectory(_discovery);
        _subscriber = _node.CreateSubscriber();
        _subscriber.SubscribePrefix(Prefix);
        _receiving = Task.Run(ReceiveAsync);
        _rate = new SteadyRate(settings.Rate, Publish);
        _publishing = Task.Run(() => _rate.RunAsync(_stop.Token));
    }

    public ChaosStatus GetStatus()
    {
        SpotSubscriberStatistics books = _subscriber.GetStatistics();
        int difference = (int)(books.Matched - books.Received - books.Dropped - books.Queued);
        _log.Append(ChaosFact.Books, difference, difference);
        _log.Append(ChaosFact.Dropped, books.Dropped, (int)books.Dropped);
        return new ChaosStatus(_rate.Count, Interlocked.Read(ref _received),
            _node.GetPeers().Count(static peer => peer.IsConnected));
    }

    public async Task StopLoadAsync()
    {
        await _stop.CancelAsync();
        await _publishing;
    }

    public async ValueTask DisposeAsync()
    {
        await _node.DisposeAsync();
        await _receiving.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        await _discovery.DisposeAsync();
        _stop.Dispose();
    }

    private void Publish(uint sequence)
    {
        long id = ChaosId.Of(_settings.Number, _settings.Life, sequence);
        BinaryPrimitives.WriteInt64LittleEndian(_payload, id);
        _log.Append(ChaosFact.Published, id);
        _node.TryPublish(_topics[sequence % Topics], _payload);
    }

    private async Task ReceiveAsync()
    {
        await foreach (SpotMessage message in _subscriber.ReceiveAllAsync())
        {
            using (message)
            {
                _log.Append(
                    ChaosFact.Received, BinaryPrimitives.ReadInt64LittleEndian(message.Span), message.MissedBefore is null ? 0 : 1);
                Interlocked.Increment(ref _received);
            }
        }
    }
}
