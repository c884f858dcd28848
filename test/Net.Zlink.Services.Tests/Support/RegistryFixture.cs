using Net.Zlink.Tests.Support;

namespace Net.Zlink.Services.Tests.Support;

/// <summary>One test's context and its registries; disposal fails the test if a buffer did not come back.</summary>
internal sealed class RegistryFixture(TimeProvider? clock = null) : IAsyncDisposable
{
    private static readonly TimeSpan Step = TimeSpan.FromMilliseconds(100);

    private readonly List<ServiceRegistry> _registries = [];
    private readonly List<IDisposable> _sockets = [];

    public ContextFixture Fixture { get; } = new(time: clock);

    public ZlinkContext Context => Fixture.Context;

    /// <summary>A registry that is up, on ports of its own.</summary>
    public ServiceRegistry Start(Action<ServiceRegistryOptions>? change = null)
    {
        ServiceRegistry registry = Create(change);
        registry.Start();
        return registry;
    }

    public ServiceRegistry Create(Action<ServiceRegistryOptions>? change = null)
    {
        var options = new ServiceRegistryOptions
        {
            PublisherEndpoint = "tcp://127.0.0.1:0",
            RouterEndpoint = "tcp://127.0.0.1:0",
            MinBroadcastInterval = TimeSpan.Zero,
            InitialSequence = 0
        };
        change?.Invoke(options);
        var registry = new ServiceRegistry(Context, options);
        lock (_registries)
        {
            _registries.Add(registry);
        }

        return registry;
    }

    /// <summary>A plain DEALER at a registry.</summary>
    public RegistryClient Connect(string routerEndpoint, string routingId) =>
        Connect(routerEndpoint, System.Text.Encoding.UTF8.GetBytes(routingId));

    public RegistryClient Connect(string routerEndpoint, byte[] routingId)
    {
        var client = new RegistryClient(Context, routerEndpoint, routingId);
        _sockets.Add(client);
        return client;
    }

    public RegistryClient Connect(ServiceRegistry registry, string routingId) => Connect(registry.RouterEndpoint, routingId);

    /// <summary>A plain SUB at a registry.</summary>
    public ListFollower Follow(string publisherEndpoint, string topic = "")
    {
        var follower = new ListFollower(Context, publisherEndpoint, topic);
        _sockets.Add(follower);
        return follower;
    }

    public ListFollower Follow(ServiceRegistry registry) => Follow(registry.PublisherEndpoint);

    /// <summary>Moves a clock as time goes: in steps that the loops have dealt with before the next one.</summary>
    public async Task AdvanceAsync(ManualTimeProvider manual, TimeSpan by)
    {
        for (TimeSpan done = TimeSpan.Zero; done < by;)
        {
            TimeSpan step = by - done < Step ? by - done : Step;
            manual.Advance(step);
            done += step;
            await Fixture.SettleAsync();
        }
    }

    public async ValueTask DisposeAsync()
    {
        foreach (IDisposable socket in _sockets)
        {
            socket.Dispose();
        }

        foreach (ServiceRegistry registry in _registries)
        {
            await registry.DisposeAsync().Guarded();
        }

        await Fixture.DisposeAsync();
    }
}
