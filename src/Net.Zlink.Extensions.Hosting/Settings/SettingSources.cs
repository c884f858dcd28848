using Microsoft.Extensions.Configuration;

namespace Net.Zlink.Extensions.Hosting;

/// <summary>Reads the sources of a configuration in turn. The merged configuration does not say whether a text or a list of one key came
/// later.</summary>
internal static class SettingSources
{
    /// <param name="configuration">The section of a context; null: no configuration.</param>
    /// <param name="ofHost">The configuration of the host, whose sources the section may be of: a section does not tell its own.</param>
    public static Setting Read(IConfiguration? configuration, IConfiguration? ofHost)
    {
        string path = (configuration as IConfigurationSection)?.Path ?? "";
        var all = new Setting(path);
        if (configuration is not null)
        {
            foreach (Source source in SourcesOf(configuration, path, ofHost))
            {
                Merge(all, source);
            }
        }

        return all;
    }

    private static IEnumerable<Source> SourcesOf(IConfiguration configuration, string path, IConfiguration? ofHost)
    {
        if (configuration is IConfigurationRoot root)
        {
            return ProvidersOf(root).Select(static provider => Source.Of(provider));
        }

        return ofHost is IConfigurationRoot hosts && configuration.AsEnumerable().SequenceEqual(hosts.GetSection(path).AsEnumerable())
            ? ProvidersOf(hosts).Select(static provider => Source.Of(provider))
            : [Source.Of(configuration, path)];
    }

    private static IEnumerable<IConfigurationProvider> ProvidersOf(IConfigurationRoot root) => root.Providers.SelectMany(
        static one => one is ChainedConfigurationProvider { Configuration: IConfigurationRoot inner } ? ProvidersOf(inner) : [one]);

    private static void Merge(Setting into, Source source)
    {
        string[] keys = [.. source.KeysBelow(into.Path).Distinct(StringComparer.OrdinalIgnoreCase)];
        (bool isKnown, string? text) = source.TextOf(into.Path);
        if (keys.Length == 0 && isKnown)
        {
            into.SetText(text);
        }
        else if (isKnown && !string.IsNullOrEmpty(text))
        {
            throw new ZlinkSettingException(
                $"{into.Path} and {into.GetOrAdd(keys[0]).Path} are both set, and nothing says which came later: remove one of them.");
        }

        foreach (string key in keys)
        {
            Merge(into.GetOrAdd(key), source);
        }
    }

    private sealed record Source(Func<string, (bool IsKnown, string? Text)> TextOf, Func<string, IEnumerable<string>> KeysBelow)
    {
        public static Source Of(IConfigurationProvider provider) => new(
            path => (provider.TryGet(path, out string? text), text),
            path => provider.GetChildKeys([], path.Length == 0 ? null : path));

        /// <summary>The merged configuration, whose sources are not known.</summary>
        public static Source Of(IConfiguration merged, string top)
        {
            IConfiguration At(string path) =>
                path.Length == top.Length ? merged : merged.GetSection(path[top.Length..].TrimStart(ConfigurationPath.KeyDelimiter[0]));
            return new Source(
                path => (true, (At(path) as IConfigurationSection)?.Value),
                path => At(path).GetChildren().Select(static child => child.Key));
        }
    }
}
