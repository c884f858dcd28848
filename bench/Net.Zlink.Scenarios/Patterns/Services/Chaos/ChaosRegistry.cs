using Net.Zlink.Services;

namespace Net.Zlink.Scenarios.Patterns.Services.Chaos;

/// <summary>A registry with two peers.</summary>
internal sealed class ChaosRegistry : IChaosPart
{
    private readonly ServiceRegistry _registry;

    public ChaosRegistry(ZlinkContext context, ChaosSettings settings)
    {
        _registry = new ServiceRegistry(context, new ServiceRegistryOptions
        {
            Id = (uint)settings.Number,
            PublisherEndpoint = settings.Publisher,
            RouterEndpoint = settings.Endpoint,
            Peers = [.. settings.Publishers],
        });
        _registry.Start();
    }

    public ChaosStatus GetStatus()
    {
        RegistrySnapshot snapshot = _registry.GetSnapshot();
        return new ChaosStatus(snapshot.Requests, snapshot.ListsSent, snapshot.Entries.Count);
    }

    public ValueTask DisposeAsync() => _registry.DisposeAsync();
}
