using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Net.Zlink.Services;

namespace Net.Zlink.Extensions.Hosting;

internal sealed class HostedSocket<TOptions>(
    IServiceProvider provider, SocketRegistration<TOptions> registration, ZlinkSocket socket, ILogger logger)
    : HostedPart
    where TOptions : SocketOptions, new()
{
    private readonly List<ServiceFollower> _followers = [];

    public override string Description => registration.Description;

    public override void Open()
    {
        Setting section = registration.CheckedSection(provider, Keys.Bind, Keys.Connect, Keys.Follow, Keys.Subscribe);
        foreach (string topic in section[Keys.Subscribe].Texts(mayBeEmpty: true) ?? registration.Topics)
        {
            (socket as SubSocket ?? throw Wrong($"only a SUB can subscribe: remove {Keys.Subscribe}")).Subscribe(topic);
        }

        foreach (string endpoint in section[Keys.Bind].Texts() ?? registration.Binds)
        {
            SocketDrain.Named(Description, "bind", endpoint, () => HostingLog.Bound(logger, Description, socket.Bind(endpoint)));
        }
    }

    public override void Connect()
    {
        Setting section = registration.Section(provider);
        foreach (string endpoint in section[Keys.Connect].Texts() ?? registration.Connects)
        {
            SocketDrain.Named(Description, "connect", endpoint, () => ((ZmpSocket)socket).Connect(endpoint));
            HostingLog.Connects(logger, Description, endpoint);
        }

        foreach (string service in section[Keys.Follow].Texts() ?? registration.Followed)
        {
            IServiceDirectory directory = provider.GetService<IServiceDirectory>() ?? throw Wrong(
                $"it follows \"{service}\", but no IServiceDirectory is registered");
            ZlinkContext context = Registrations.ContextOf(provider, registration.ContextName).Context;
            _followers.Add(new ServiceFollower(context, (ZmpSocket)socket, directory, service));
            HostingLog.Follows(logger, Description, service);
        }
    }

    public override Task DrainAsync(DrainClock clock, CancellationToken cancellation) =>
        SocketDrain.RunAsync(socket, Description, logger, clock, cancellation);

    public override async ValueTask EndAsync()
    {
        foreach (ServiceFollower follower in _followers)
        {
            await follower.DisposeAsync().ConfigureAwait(false);
        }

        SocketDrain.End(socket, Description, logger);
    }

    private ZlinkSettingException Wrong(string why) => new($"{Description}: {why}.");
}
