using System.Globalization;
using System.Text.RegularExpressions;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Extensions.Tests;

/// <summary>The table of programs in docs/hosting.md has the lines that the programs of this project have.</summary>
public sealed partial class ProgramTableTests
{
    private const string WithNats = "WithNats";

    [Fact]
    public void The_table_of_programs_has_their_counted_lines()
    {
        SortedDictionary<string, int> counted = CountWhere(static file => !file.Contains(WithNats, StringComparison.Ordinal));
        Assert.Equal("abcdefghi", string.Concat(counted.Keys));
        Assert.Equal(counted, ReadColumn("now"));
    }

    [Fact]
    public void The_table_of_programs_has_the_counted_lines_of_those_with_NATS()
    {
        SortedDictionary<string, int> counted = CountWhere(static file => file.Contains(WithNats, StringComparison.Ordinal));
        Assert.Equal("abcefghi", string.Concat(counted.Keys));
        Assert.Equal(counted, ReadColumn("nats"));
    }

    private static SortedDictionary<string, int> CountWhere(Func<string, bool> counts)
    {
        var counted = new SortedDictionary<string, int>(StringComparer.Ordinal);
        string folder = Path.Combine(Repository.Root, "test", "Net.Zlink.Extensions.Tests");
        foreach (string file in Directory.EnumerateFiles(folder, "*.cs", SearchOption.AllDirectories).Where(counts))
        {
            Count(File.ReadLines(file), counted);
        }

        return counted;
    }

    private static SortedDictionary<string, int> ReadColumn(string column)
    {
        string page = File.ReadAllText(Path.Combine(Repository.Root, "docs", "hosting.md"));
        Dictionary<string, int> cells = Row().Matches(page).Where(row => row.Groups[column].Success).ToDictionary(
            static row => row.Groups["program"].Value, row => int.Parse(row.Groups[column].Value, CultureInfo.InvariantCulture),
            StringComparer.Ordinal);
        return new SortedDictionary<string, int>(cells, StringComparer.Ordinal);
    }

    private static void Count(IEnumerable<string> lines, SortedDictionary<string, int> counted)
    {
        string? program = null;
        foreach (string line in lines)
        {
            if (Mark().Match(line) is { Success: true } mark)
            {
                program = string.Equals(mark.Groups["what"].Value, "begin", StringComparison.Ordinal) ? mark.Groups["program"].Value : null;
            }
            else if (program is not null && !Uncounted().IsMatch(line))
            {
                counted[program] = counted.GetValueOrDefault(program) + 1;
            }
        }
    }

    [GeneratedRegex(@"^\s*// (?<what>begin|end) (?<program>\w)$", RegexOptions.ExplicitCapture, matchTimeoutMilliseconds: 1000)]
    private static partial Regex Mark();

    // Blanks, braces and comments.
    [GeneratedRegex(@"^\s*([{}();,\s]*|//.*)$", RegexOptions.ExplicitCapture, matchTimeoutMilliseconds: 1000)]
    private static partial Regex Uncounted();

    // | a | what it does | before | now | NATS.Net |
    [GeneratedRegex(@"^\| (?<program>[a-i]) \|[^|]*\|[^|]*\| (?<now>\d+) \| ((?<nats>\d+)|-) \|$", RegexOptions.ExplicitCapture | RegexOptions.Multiline,
        matchTimeoutMilliseconds: 1000)]
    private static partial Regex Row();
}
