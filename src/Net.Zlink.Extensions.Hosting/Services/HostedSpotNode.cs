using Microsoft.Extensions.Logging;
using Net.Zlink.Services;

namespace Net.Zlink.Extensions.Hosting;

internal sealed class HostedSpotNode(IServiceProvider provider, SpotNodeRegistration registration, SpotNode node, ILogger logger)
    : HostedPart
{
    private IReadOnlyList<string> _registries = [];
    private readonly List<IDisposable> _following = [];
    private RegistryDirectory? _discovery;

    public override string Description => $"SPOT node \"{registration.Name}\"";

    public override void Open()
    {
        foreach (string endpoint in registration.Section(provider)[Keys.Bind].Texts() ?? registration.Binds)
        {
            SocketDrain.Named(Description, "bind", endpoint, () => HostingLog.Bound(logger, Description, node.Bind(endpoint)));
        }
    }

    public override void Connect()
    {
        Setting section = registration.Section(provider);
        foreach (string endpoint in section[Keys.Connect].Texts() ?? registration.Connects)
        {
            SocketDrain.Named(Description, "connect", endpoint, () => node.Connect(endpoint));
            HostingLog.Connects(logger, Description, endpoint);
        }

        _registries = section[Keys.Registries].Texts() ?? registration.Registries;
        foreach (string endpoint in _registries)
        {
            SocketDrain.Named(Description, "connect", endpoint, () => node.ConnectRegistry(endpoint));
        }

        if ((section[Keys.FollowRegistries].Texts() ?? registration.Followed) is { Count: > 0 } followed)
        {
            _discovery = new RegistryDirectory(
                Registrations.ContextOf(provider, registration.ContextName).Context, ServiceKind.SpotNode);
            foreach (string endpoint in followed)
            {
                SocketDrain.Named(Description, "connect", endpoint, () => _discovery.ConnectRegistry(endpoint));
            }

            _following.Add(node.UseDirectory(_discovery));
        }

        if (registration.Directory is { } directory)
        {
            _following.Add(node.UseDirectory(directory(provider)));
        }
    }

    public override Task AnnounceAsync(CancellationToken cancellation)
    {
        if (_registries.Count > 0)
        {
            node.Register();
        }

        return Task.CompletedTask;
    }

    public override async ValueTask EndAsync()
    {
        _following.ForEach(static one => one.Dispose());
        await node.DisposeAsync().ConfigureAwait(false);
        if (_discovery is not null)
        {
            await _discovery.DisposeAsync().ConfigureAwait(false);
        }
    }
}
