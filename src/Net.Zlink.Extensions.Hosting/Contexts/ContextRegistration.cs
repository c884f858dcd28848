using Microsoft.Extensions.Configuration;

namespace Net.Zlink.Extensions.Hosting;

/// <summary>Sections are read when the host starts.</summary>
internal sealed class ContextRegistration(string name)
{
    /// <summary>Empty: the context of the application.</summary>
    public string Name { get; } = name;

    public IConfiguration? Configuration { get; set; }

    public ContextHealthOptions? Health { get; set; }

    /// <summary>Sections of parts by kind: what is configured must be registered, too.</summary>
    public List<(string Section, string Name)> Parts { get; } = [];

    /// <summary>The section of a part. One without a name has that of its kind.</summary>
    public IConfigurationSection? Section(string kind, string name) =>
        name.Length == 0 ? Configuration?.GetSection(kind) : Configuration?.GetSection(kind).GetSection(name);

    public void CheckKeys()
    {
        if (Configuration is null)
        {
            return;
        }

        ConfigurationErrors.CheckKeys(Configuration,
        [
            Keys.Context, Keys.Health, .. Keys.Kinds,
            .. Parts.Where(static part => part.Name.Length == 0).Select(static part => part.Section),
        ]);
        foreach (string kind in Keys.Kinds)
        {
            ConfigurationErrors.CheckKeys(Configuration.GetSection(kind),
                [.. Parts.Where(part => string.Equals(part.Section, kind, StringComparison.Ordinal)).Select(static part => part.Name)]);
        }
    }
}
