using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;

namespace Net.Zlink.Extensions.Hosting;

internal class SocketRegistration<TOptions>(SocketKind<TOptions> kind, string name, string contextName)
    where TOptions : SocketOptions, new()
{
    public SocketKind<TOptions> Kind { get; } = kind;

    public string Name { get; } = name;

    public string ContextName { get; } = contextName;

    public List<string> Binds { get; } = [];

    public List<string> Connects { get; } = [];

    public List<string> Followed { get; } = [];

    public List<string> Topics { get; } = [];

    public List<Action<IServiceProvider, TOptions>> Configures { get; } = [];

    public SocketHealthOptions? Health { get; set; }

    public virtual string CheckName => $"zlink-{Kind.Name}-{Name}".ToLowerInvariant();

    protected virtual string SectionKey => Keys.Sockets;

    public string Description => $"{Kind.Name} \"{Name}\"";

    public IConfigurationSection? Section(IServiceProvider provider) =>
        Registrations.ContextOf(provider, ContextName).Registration.Section(SectionKey, Name);

    public ZlinkSocket Create(IServiceProvider provider)
    {
        var options = new TOptions();
        foreach (Action<IServiceProvider, TOptions> configure in Configures)
        {
            configure(provider, options);
        }

        if (Section(provider)?.GetSection(Keys.Options) is { } section)
        {
            ConfigurationErrors.Named(section, () => Kind.Bind(section, options));
        }

        return Kind.Create(Registrations.ContextOf(provider, ContextName).Context, options);
    }

    public SocketHealthCheck CreateCheck(IServiceProvider provider, ZlinkSocket socket)
    {
        SocketHealthOptions options = Health!;
        if (Section(provider)?.GetSection(Keys.Health) is { } section)
        {
            ConfigurationErrors.Named(section, () => section.Bind(options, static binder => binder.ErrorOnUnknownConfiguration = true));
        }

        return new SocketHealthCheck(socket, options);
    }
}
