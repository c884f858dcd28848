using System.Text.RegularExpressions;

namespace PackageFiles;

/// <summary>Texts of the repository, as the page of a package shows them.</summary>
internal static partial class PackagePage
{
    /// <summary>The links of a README two folders below the repository's root. Without an address, which a build of one's own has not,
    /// their words stay.</summary>
    public static string WithLinksTo(string address, string readme) => Link().Replace(readme, link => address.Length == 0
        ? link.Groups["words"].Value
        : $"[{link.Groups["words"].Value}]({address}/{link.Groups["path"].Value})");

    /// <summary>The newest version's changes, up to the table of what was renamed.</summary>
    public static string NewestSection(string changelog) => Section().Match(changelog).Groups["text"].Value.Trim();

    [GeneratedRegex(@"\[(?<words>[^\]]+)\]\((\.\./)+(?<path>[^)]+)\)", RegexOptions.ExplicitCapture, matchTimeoutMilliseconds: 10_000)]
    private static partial Regex Link();

    [GeneratedRegex(@"^## [^\n]+\n(?<text>.*?)(^## |^### The public API|\z)", RegexOptions.Multiline | RegexOptions.Singleline
        | RegexOptions.ExplicitCapture, matchTimeoutMilliseconds: 10_000)]
    private static partial Regex Section();
}
