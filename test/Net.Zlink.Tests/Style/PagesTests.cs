using System.Text.RegularExpressions;
using Net.Zlink.Tests.PublicApi;
using Xunit;

namespace Net.Zlink.Tests.Style;

/// <summary>What a reader of the pages would stumble over, and Markdown does not report.</summary>
public sealed partial class PagesTests
{
    [Fact]
    public void Tables_have_a_heading_and_as_many_cells_in_each_row()
    {
        List<string> faults = [];
        foreach ((string path, string text) in RepositoryFiles.AllPages())
        {
            int columns = 0;
            bool isFirst = false;
            foreach ((int at, string line) in WithoutCode(text).Split('\n').Index())
            {
                int cells = line.StartsWith('|') ? Bar().Count(line) : 0;
                if (columns > 0 && cells > 0 && cells != columns)
                {
                    faults.Add($"{path}({at + 1}): {cells - 1} cells, its heading has {columns - 1}");
                }

                if (isFirst && !Rule().IsMatch(line))
                {
                    faults.Add($"{path}({at + 1}): a table needs a rule below its heading");
                }

                isFirst = columns == 0 && cells > 0;
                columns = cells == 0 || columns == 0 ? cells : columns;
            }
        }

        Assert.Empty(faults);
    }

    [Fact]
    public void Links_between_pages_lead_to_a_file_and_a_heading()
    {
        List<string> faults = [];
        foreach ((string path, string text) in RepositoryFiles.AllPages())
        {
            foreach (Match link in Link().Matches(WithoutCode(text)))
            {
                string[] parts = link.Groups["to"].Value.Split('#');
                string page = parts[0].Length == 0 ? path : Path.Combine(Path.GetDirectoryName(path)!, parts[0]);
                string file = Path.GetFullPath(Path.Combine(SourceTree.Root, page));
                bool isThere = File.Exists(file) || Directory.Exists(file);
                if (!isThere || (parts.Length > 1 && !AnchorsOf(File.ReadAllText(file)).Contains(parts[1], StringComparer.Ordinal)))
                {
                    faults.Add($"{path}: {link.Groups["to"].Value}");
                }
            }
        }

        Assert.Empty(faults);
    }

    [Fact]
    public void Tests_that_pages_name_exist()
    {
        string code = string.Concat(RepositoryFiles.Code("test").Select(static file => file.Text));
        string[] missing = [.. RepositoryFiles.AllPages().SelectMany(static page => NamedTest().Matches(page.Text))
            .Where(test => !code.Contains($"class {test.Groups["class"].Value}", StringComparison.Ordinal)
                || (test.Groups["test"].Success && !code.Contains($" {test.Groups["test"].Value}(", StringComparison.Ordinal)))
            .Select(static test => test.Value)];
        Assert.Empty(missing);
    }

    [Theory]
    [InlineData("# Late subscribers", "late-subscribers")]
    [InlineData("### `Connect(a, b)`: what *it* does", "connecta-b-what-it-does")]
    public void An_anchor_is_the_heading_in_small_letters_with_hyphens(string heading, string anchor) =>
        Assert.Equal(anchor, Assert.Single(AnchorsOf(heading)));

    private static string WithoutCode(string text) =>
        Code().Replace(text, static match => new string('\n', match.Value.Count('\n'.Equals)));

    private static IEnumerable<string> AnchorsOf(string text) =>
        Heading().Matches(Fence().Replace(text, "")).Select(static match => NoAnchor().Replace(match.Groups["text"].Value.Trim(), "")
            .Replace(' ', '-').ToLowerInvariant());

    // Blocks of code, and pieces of code within a line.
    [GeneratedRegex("^ *```.*?^ *```|`[^`\n]*`", RegexOptions.Singleline | RegexOptions.Multiline, matchTimeoutMilliseconds: 10_000)]
    private static partial Regex Code();

    [GeneratedRegex("^ *```.*?^ *```", RegexOptions.Singleline | RegexOptions.Multiline, matchTimeoutMilliseconds: 10_000)]
    private static partial Regex Fence();

    [GeneratedRegex(@"(?<!\\)\|", RegexOptions.None, matchTimeoutMilliseconds: 10_000)]
    private static partial Regex Bar();

    [GeneratedRegex(@"^\|[ :|-]+\|\s*$", RegexOptions.None, matchTimeoutMilliseconds: 10_000)]
    private static partial Regex Rule();

    // Addresses of the web are not followed.
    [GeneratedRegex(@"\]\((?![a-z]+:)(?<to>[^)\s]+)\)", RegexOptions.ExplicitCapture, matchTimeoutMilliseconds: 10_000)]
    private static partial Regex Link();

    [GeneratedRegex("^#+ (?<text>.*)$", RegexOptions.Multiline | RegexOptions.ExplicitCapture, matchTimeoutMilliseconds: 10_000)]
    private static partial Regex Heading();

    // `SomethingTests`, or `SomethingTests.A_sentence`.
    [GeneratedRegex(@"`(?<class>[A-Z]\w+Tests)(\.(?<test>\w+))?`", RegexOptions.ExplicitCapture, matchTimeoutMilliseconds: 10_000)]
    private static partial Regex NamedTest();

    [GeneratedRegex(@"[^\w\- ]", RegexOptions.None, matchTimeoutMilliseconds: 10_000)]
    private static partial Regex NoAnchor();
}
