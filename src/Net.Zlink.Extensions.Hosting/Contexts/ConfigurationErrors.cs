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
            throw new ZlinkSettingException(SentenceOf(section, e), e);
        }
    }

    /// <summary>Reads what a section says into options, if there is one.</summary>
    public static void Read<TOptions>(IConfigurationSection? section, TOptions options, Action<IConfigurationSection, TOptions> bind)
    {
        if (section is not null)
        {
            Named(section, () => bind(section, options));
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

    /// <summary>With the whole key, which neither a setter nor the binder knows. Without a section: what the exception says.</summary>
    public static string SentenceOf(IConfigurationSection? section, Exception e)
    {
        if (section is not null && e.Message.Contains(nameof(BinderOptions.ErrorOnUnknownConfiguration), StringComparison.Ordinal))
        {
            string key = e.Message.Split('\'')[^2];
            return $"{PathOf(section, key) ?? section.Path} is not a setting.";
        }

        if (section is not null && e.Message.Contains(section.Path, StringComparison.Ordinal))
        {
            return e.Message;
        }

        Exception cause = e.InnerException is ArgumentException inner ? inner : e;
        string sentence = cause is ArgumentException { ParamName: not null }
            ? cause.Message.Split(" (Parameter '", 2)[0].Split('\n', 2)[0].Trim() : cause.Message;
        string? path = section is null ? null : PathOf(section, sentence.Split(' ', 2)[0]) ?? section.Path;
        return path is null ? sentence : $"{path}: {sentence}";
    }

    /// <summary>The key below the section by its last word.</summary>
    private static string? PathOf(IConfigurationSection section, string key) => section.AsEnumerable().Select(static one => one.Key)
        .FirstOrDefault(path => string.Equals(ConfigurationPath.GetSectionKey(path), key, StringComparison.OrdinalIgnoreCase));

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
