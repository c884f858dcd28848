using Microsoft.Extensions.Configuration;

namespace Net.Zlink.Extensions.Hosting;

/// <summary>Sections are read when the host starts.</summary>
internal sealed class ContextRegistration(string name)
{
    /// <summary>Empty: the context of the application.</summary>
    public string Name { get; } = name;

    public IConfiguration? Configuration { get; set; }

    public ContextHealthOptions? Health { get; set; }

    /// <summary>Where code opens diagnostics; empty: in the usual place. Null: nowhere.</summary>
    public string? Diagnostics { get; set; }

    /// <summary>Sections of parts by kind.</summary>
    public List<(string Section, string Name)> Parts { get; } = [];

    /// <summary>Refuses unknown keys. Sections of parts that are not registered are allowed, because one file often serves several
    /// programs.</summary>
    /// <returns>These sections, and which names are registered in their place.</returns>
    public List<(string Key, string Kind, string Registered)> FindUnused(Setting all)
    {
        List<(string, string, string)> found = [];
        string[] sections = [Keys.Context, Keys.Health, Keys.Diagnostics, .. Keys.Kinds, .. Keys.Singles];
        all.ThrowIfText(sections);
        if (all.Children.FirstOrDefault(child => !sections.Contains(child.Key, StringComparer.OrdinalIgnoreCase)) is { } wrong)
        {
            throw SettingFaults.NoSetting(wrong, sections);
        }

        foreach (string kind in Keys.Kinds)
        {
            string[] names =
            [
                .. Parts.Where(part => string.Equals(part.Section, kind, StringComparison.Ordinal)).Select(static part => part.Name),
            ];
            string registered = names.Length == 0 ? "nothing" : string.Join(", ", names.Select(Registrations.Shown));
            all[kind].ThrowIfText(["the names of the parts"]);
            found.AddRange(all[kind].Children.Where(child => !Array.Exists(names, one => IsOf(child, one)))
                .Select(unused => (unused.Path, kind, registered)));
        }

        found.AddRange(Keys.Singles.Where(one => all[one].IsSet && !Parts.Contains((one, ""))).Select(
            single => (all[single].Path, single, "nothing")));
        return found;
    }

    /// <summary>A name that is an endpoint has colons, which divide keys.</summary>
    private static bool IsOf(Setting child, string name) =>
        string.Equals(child.Key, name.Split(ConfigurationPath.KeyDelimiter, 2)[0], StringComparison.OrdinalIgnoreCase);
}
