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

    public Setting Section(IServiceProvider provider) => provider.SettingOf(ContextName, SectionKey, Name);

    /// <summary>The endpoints are the part's, and the options below them.</summary>
    public void AddOptions(IServiceCollection services) => services.AddPartOptions<TOptions>(
        Name, provider => Section(provider)[Keys.Options], static (from, to) => from.Read([to]), static _ => { });

    /// <summary>Refuses keys that the part does not have, and thresholds that are wrong.</summary>
    public Setting CheckedSection(IServiceProvider provider, params string[] keys)
    {
        Setting section = Section(provider);
        section.Read([], [.. keys, Keys.Options, Keys.Health]);
        section[Keys.Health].Read([Health ?? new SocketHealthOptions()]);
        return section;
    }

    // A socket keeps its options.
    public ZlinkSocket Create(IServiceProvider provider) => Kind.Create(
        Registrations.ContextOf(provider, ContextName).Context, PartOptions.Of<TOptions>(provider, Name).Copy());

    public SocketHealthCheck CreateCheck(ZlinkSocket socket) => new(socket, Health!);
}
