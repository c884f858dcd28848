using Net.Zlink.Services;

namespace Net.Zlink.Extensions.Hosting;

internal sealed class SpotNodeRegistration(string name, string contextName)
{
    public string Name { get; } = name;

    public string ContextName { get; } = contextName;

    public List<string> Binds { get; } = [];

    public List<string> Connects { get; } = [];

    public List<string> Registries { get; } = [];

    /// <summary>Publisher endpoints of registries that list other nodes.</summary>
    public List<string> Followed { get; } = [];

    public Func<IServiceProvider, IServiceDirectory>? Directory { get; set; }

    public Setting Section(IServiceProvider provider) => provider.SettingOf(ContextName, Keys.SpotNodes, Name);

    public SpotNode Create(IServiceProvider provider)
    {
        SpotNodeOptions options = PartOptions.Of<SpotNodeOptions>(provider, Name);
        return SettingFaults.Named(
            Section(provider), () => new SpotNode(Registrations.ContextOf(provider, ContextName).Context, options));
    }
}
