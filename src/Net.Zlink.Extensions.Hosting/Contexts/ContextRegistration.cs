using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.Logging;

namespace Net.Zlink.Extensions.Hosting;

/// <summary>Sections are read when the host starts.</summary>
internal sealed class ContextRegistration(string name)
{
    /// <summary>Empty: the context of the application.</summary>
    public string Name { get; } = name;

    public IConfiguration? Configuration { get; set; }

    public ContextHealthOptions? Health { get; set; }

    /// <summary>Sections of parts by kind.</summary>
    public List<(string Section, string Name)> Parts { get; } = [];

    /// <summary>Sections of parts that are not registered are allowed: one file often serves several programs.</summary>
    public void CheckKeys(Setting all, ILogger logger)
    {
        string[] sections = [Keys.Context, Keys.Health, .. Keys.Kinds, .. Keys.Singles];
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
            all[kind].ThrowIfText(["the names of the parts"]);
            foreach (Setting unused in all[kind].Children.Where(child => !Array.Exists(names, one => IsOf(child, one))))
            {
                string shown = names.Length == 0 ? "nothing" : string.Join(", ", names.Select(Registrations.Shown));
                HostingLog.Unused(logger, unused.Path, kind, shown);
            }
        }

        foreach (string single in Keys.Singles.Where(one => all[one].IsSet && !Parts.Contains((one, ""))))
        {
            HostingLog.Unused(logger, all[single].Path, single, "nothing");
        }
    }

    /// <summary>A name that is an endpoint has colons, which divide keys.</summary>
    private static bool IsOf(Setting child, string name) =>
        string.Equals(child.Key, name.Split(ConfigurationPath.KeyDelimiter, 2)[0], StringComparison.OrdinalIgnoreCase);
}
