using System.Globalization;
using System.Text.RegularExpressions;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Extensions.Tests;

/// <summary>The table of docs/comparison.md has the lines that the programs of this project have, and what it says of them is so.</summary>
public sealed partial class ProgramTableTests
{
    private const string WithNats = "WithNats";

    [Fact]
    public void The_table_of_programs_has_their_counted_lines()
    {
        SortedDictionary<char, int> counted = Count(isNats: false);
        Assert.Equal("abcdefghi", string.Concat(counted.Keys));
        Assert.Equal(counted, ReadColumn("ours"));
    }

    [Fact]
    public void The_table_of_programs_has_the_counted_lines_of_those_with_NATS()
    {
        SortedDictionary<char, int> counted = Count(isNats: true);
        Assert.Equal("abcefghi", string.Concat(counted.Keys));
        Assert.Equal(counted, ReadColumn("nats"));
    }

    [Fact]
    public void No_program_has_more_lines_than_with_NATS()
    {
        SortedDictionary<char, int> ours = Count(isNats: false);
        Assert.Empty(Count(isNats: true).Where(nats => ours[nats.Key] > nats.Value).Select(static nats => nats.Key));
    }

    private static SortedDictionary<char, int> Count(bool isNats)
    {
        var counted = new SortedDictionary<char, int>();
        string folder = Path.Combine(Repository.Root, "test", "Net.Zlink.Extensions.Tests");
        foreach (string file in Directory.EnumerateFiles(folder, "*.cs", SearchOption.AllDirectories))
        {
            bool isOfSide = file.Contains(WithNats, StringComparison.Ordinal) == isNats;
            string programs = "";
            foreach (string line in File.ReadLines(file))
            {
                if (Mark().Match(line) is { Success: true } mark)
                {
                    bool counts = mark.Groups["begin"].Success && (isOfSide || mark.Groups["both"].Success);
                    programs = counts ? mark.Groups["programs"].Value : "";
                }
                else if (!Uncounted().IsMatch(line))
                {
                    foreach (char program in programs)
                    {
                        counted[program] = counted.GetValueOrDefault(program) + 1;
                    }
                }
            }
        }

        return counted;
    }

    private static SortedDictionary<char, int> ReadColumn(string column)
    {
        string page = File.ReadAllText(Path.Combine(Repository.Root, "docs", "comparison.md"));
        return new SortedDictionary<char, int>(Row().Matches(page).Where(row => row.Groups[column].Success).ToDictionary(
            static row => row.Groups["program"].Value[0], row => int.Parse(row.Groups[column].Value, CultureInfo.InvariantCulture)));
    }

    [GeneratedRegex(@"^\s*// ((?<begin>begin)|end) (?<programs>[a-i]+)(?<both>, with NATS too)?$", RegexOptions.ExplicitCapture,
        matchTimeoutMilliseconds: 1000)]
    private static partial Regex Mark();

    // Blanks, braces, comments and usings.
    [GeneratedRegex(@"^\s*([{}();,\s]*|//.*|using [\w.]+;)$", RegexOptions.ExplicitCapture, matchTimeoutMilliseconds: 1000)]
    private static partial Regex Uncounted();

    // | a | what it does | Net.Zlink | NATS.Net |
    [GeneratedRegex(@"^\| (?<program>[a-i]) \|[^|]*\| (?<ours>\d+) \| ((?<nats>\d+)|-) \|$",
        RegexOptions.ExplicitCapture | RegexOptions.Multiline, matchTimeoutMilliseconds: 1000)]
    private static partial Regex Row();
}
