using Microsoft.Extensions.Configuration;

namespace Net.Zlink.Extensions.Hosting;

internal static class ConfigurationErrors
{
    /// <summary>Names the section, because a setter that refuses a value does not know where the value came from.</summary>
    public static void Named(IConfigurationSection section, Action read) => Named(section, () =>
    {
        read();
        return true;
    });

    /// <summary>Null: the values are not from a section.</summary>
    public static T Named<T>(IConfigurationSection? section, Func<T> make)
    {
        try
        {
            return make();
        }
        catch (Exception e) when (section is not null && section.Exists() && e is not ZlinkSettingException
            && e is (ArgumentException or InvalidOperationException or FormatException))
        {
            throw new ZlinkSettingException(e.Message.Contains(section.Path, StringComparison.Ordinal) ? e.Message
                : $"{section.Path}: {(e.InnerException is ArgumentException inner ? inner : e).Message}", e);
        }
    }

    public static void CheckKeys(IConfiguration section, params ReadOnlySpan<string> known)
    {
        foreach (IConfigurationSection child in section.GetChildren())
        {
            if (!Contains(known, child.Key))
            {
                throw new ZlinkSettingException($"{child.Path} is not a setting. The settings are: {string.Join(", ", known!)}.");
            }
        }
    }

    /// <summary>A list, or one value in its place.</summary>
    public static IEnumerable<string> TextsOf(IConfigurationSection section) =>
        section.Value is { } one ? [one] : section.GetChildren().Select(static child => child.Value ?? "");

    public static IReadOnlyList<string> TextsOr(IConfigurationSection? section, string key, IReadOnlyList<string> inCode) =>
        section is not null && TextsOf(section.GetSection(key)).ToArray() is { Length: > 0 } configured ? configured : inCode;

    private static bool Contains(ReadOnlySpan<string> known, string key)
    {
        foreach (string one in known)
        {
            if (string.Equals(one, key, StringComparison.OrdinalIgnoreCase))
            {
                return true;
            }
        }

        return false;
    }
}
