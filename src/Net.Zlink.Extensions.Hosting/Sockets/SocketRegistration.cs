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

    public SocketHealthOptions? Health { get; set; }

    public virtual string CheckName => $"zlink-{Kind.Name}-{Name}".ToLowerInvariant();

    protected virtual string SectionKey => Keys.Sockets;

    protected virtual string ShownName => Name;

    public string Description => $"{Kind.Name} \"{ShownName}\"";

    public IConfigurationSection? Section(IServiceProvider provider) =>
        Registrations.ContextOf(provider, ContextName).Registration.Section(SectionKey, Name);

    /// <summary>The endpoints are the part's, and the options below them.</summary>
    public void AddOptions(IServiceCollection services)
    {
        ContextRegistration context = services.Context(ContextName);
        services.AddPartOptions<TOptions>(
            Name, () => context.Section(SectionKey, Name)?.GetSection(Keys.Options), Kind.Bind, static _ => { });
    }

    // A socket keeps its options.
    public ZlinkSocket Create(IServiceProvider provider) => Kind.Create(
        Registrations.ContextOf(provider, ContextName).Context, PartOptions.Of<TOptions>(provider, Name).Copy());

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
