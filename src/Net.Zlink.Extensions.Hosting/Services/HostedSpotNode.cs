using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.Logging;
using Net.Zlink.Services;

namespace Net.Zlink.Extensions.Hosting;

/// <summary>What an application said of one SPOT node.</summary>
internal sealed class SpotNodeRegistration(string name, string contextName)
{
    public string Name { get; } = name;

    public string ContextName { get; } = contextName;

    public List<string> Binds { get; } = [];

    public List<string> Connects { get; } = [];

    public List<string> Registries { get; } = [];

    public Func<IServiceProvider, IServiceDirectory>? Directory { get; set; }

    public Func<SpotNodeOptions, SpotNodeOptions>? Configure { get; set; }
}

/// <summary>A SPOT node between the start and the end of its host.</summary>
internal sealed class HostedSpotNode(IServiceProvider provider, SpotNodeRegistration registration, SpotNode node, ILogger logger)
    : HostedPart
{
    private IReadOnlyList<string> _registries = [];
    private IDisposable? _following;

    public override string Description => $"SPOT node \"{registration.Name}\"";

    public override void Open()
    {
        IConfigurationSection? section =
            Registrations.ContextOf(provider, registration.ContextName).Registration.Section(Keys.SpotNodes, registration.Name);
        if (section is not null)
        {
            ConfigurationErrors.CheckKeys(section, Keys.Bind, Keys.Connect, Keys.Registries);
        }

        foreach (string endpoint in ConfigurationErrors.TextsOr(section, Keys.Bind, registration.Binds))
        {
            SocketDrain.Named(Description, "bind", endpoint, () => HostingLog.Bound(logger, Description, node.Bind(endpoint)));
        }

        foreach (string endpoint in ConfigurationErrors.TextsOr(section, Keys.Connect, registration.Connects))
        {
            SocketDrain.Named(Description, "connect", endpoint, () => node.ConnectPeer(endpoint));
            HostingLog.Connects(logger, Description, endpoint);
        }

        _registries = ConfigurationErrors.TextsOr(section, Keys.Registries, registration.Registries);
        foreach (string endpoint in _registries)
        {
            SocketDrain.Named(Description, "connect", endpoint, () => node.ConnectRegistry(endpoint));
        }

        _following = registration.Directory is { } directory ? node.UseDirectory(directory(provider)) : null;
    }

    public override Task AnnounceAsync(CancellationToken cancellation)
    {
        if (_registries.Count > 0)
        {
            node.Register();
        }

        return Task.CompletedTask;
    }

    public override ValueTask EndAsync()
    {
        _following?.Dispose();
        return node.DisposeAsync();
    }
}
