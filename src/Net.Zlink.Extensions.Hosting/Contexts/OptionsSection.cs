using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.Primitives;

namespace Net.Zlink.Extensions.Hosting;

/// <summary>A part's section without the keys that are not its options', so that the binder can refuse every key that it does not
/// know.</summary>
/// <param name="section">The whole section.</param>
/// <param name="others">The keys that are hidden, relative to the section.</param>
internal sealed class OptionsSection(IConfigurationSection section, params string[] others) : IConfigurationSection
{
    public string Key => section.Key;

    public string Path => section.Path;

    public string? Value
    {
        get => section.Value;
        set => section.Value = value;
    }

    public string? this[string key]
    {
        get => section[key];
        set => section[key] = value;
    }

    public IEnumerable<IConfigurationSection> GetChildren() =>
        section.GetChildren().Where(child => !others.Contains(child.Key, StringComparer.OrdinalIgnoreCase)).Select(Within);

    public IConfigurationSection GetSection(string key) => Within(section.GetSection(key));

    public IChangeToken GetReloadToken() => section.GetReloadToken();

    private OptionsSection Within(IConfigurationSection child)
    {
        string start = child.Key + ConfigurationPath.KeyDelimiter;
        return new OptionsSection(child,
            [.. others.Where(other => other.StartsWith(start, StringComparison.OrdinalIgnoreCase)).Select(other => other[start.Length..])]);
    }
}
