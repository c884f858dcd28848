using System.Globalization;
using System.Runtime.CompilerServices;
using System.Text.RegularExpressions;
using Xunit;

namespace Net.Zlink.Extensions.Tests;

/// <summary>The table of programs in docs/hosting.md has the lines that the programs of this project have.</summary>
public sealed partial class ProgramTableTests
{
    [Fact]
    public void The_table_of_programs_has_their_counted_lines()
    {
        var counted = new SortedDictionary<string, int>(StringComparer.Ordinal);
        foreach (string file in Directory.EnumerateFiles(Path.Combine(Folder(), ".."), "*.cs", SearchOption.AllDirectories))
        {
            Count(File.ReadLines(file), counted);
        }

        string page = File.ReadAllText(Path.Combine(Folder(), "..", "..", "..", "docs", "hosting.md"));
        var said = Row().Matches(page).ToDictionary(
            static row => row.Groups["program"].Value, static row => int.Parse(row.Groups["now"].Value, CultureInfo.InvariantCulture),
            StringComparer.Ordinal);
        Assert.Equal("abcdefghi", string.Concat(counted.Keys));
        Assert.Equal(counted, new SortedDictionary<string, int>(said, StringComparer.Ordinal));
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

    private static string Folder([CallerFilePath] string file = "") => Path.GetDirectoryName(file)!;

    [GeneratedRegex(@"^\s*// (?<what>begin|end) (?<program>\w)$", RegexOptions.ExplicitCapture, matchTimeoutMilliseconds: 1000)]
    private static partial Regex Mark();

    // Blanks, braces and comments.
    [GeneratedRegex(@"^\s*([{}();,\s]*|//.*)$", RegexOptions.ExplicitCapture, matchTimeoutMilliseconds: 1000)]
    private static partial Regex Uncounted();

    // | a | what it does | before | now | NATS.Net |
    [GeneratedRegex(@"^\| (?<program>[a-i]) \|[^|]*\|[^|]*\| (?<now>\d+) \|", RegexOptions.ExplicitCapture | RegexOptions.Multiline,
        matchTimeoutMilliseconds: 1000)]
    private static partial Regex Row();
}
