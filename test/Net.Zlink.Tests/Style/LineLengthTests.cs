using Xunit;

namespace Net.Zlink.Tests.Style;

/// <summary>What .editorconfig promises and no formatter enforces.</summary>
public sealed class LineLengthTests
{
    private const int MaxColumns = 140;

    // A raw text cannot be broken without changing what it says, and a value of a test or a pattern not without hiding it.
    private static readonly string[] Unbreakable = ["\"\"\"", "InlineData(", "[GeneratedRegex("];

    [Fact]
    public void Lines_of_code_have_at_most_140_columns()
    {
        List<string> faults = [];
        foreach ((string path, string text) in RepositoryFiles.Code("src", "test", "bench", "samples"))
        {
            bool isInRawText = false;
            foreach ((int at, string line) in text.Split('\n').Index())
            {
                bool isWhole = !isInRawText && !Unbreakable.Any(line.Contains);
                isInRawText ^= line.Split("\"\"\"").Length % 2 == 0;
                if (isWhole && line.TrimEnd('\r').Length > MaxColumns)
                {
                    faults.Add($"{path}({at + 1}): {line.Length}");
                }
            }
        }

        AssertNone(faults);
    }

    [Fact]
    public void Lines_of_pages_have_at_most_140_columns()
    {
        List<string> faults = [];
        foreach ((string path, string text) in RepositoryFiles.AllPages())
        {
            bool isCode = false;
            foreach ((int at, string line) in text.Split('\n').Index())
            {
                isCode ^= line.TrimStart().StartsWith("```", StringComparison.Ordinal);
                bool canBreak = !isCode && !line.StartsWith('|') && !line.StartsWith("    ", StringComparison.Ordinal); // Tables, commands.
                if (canBreak && line.TrimEnd('\r').Length > MaxColumns)
                {
                    faults.Add($"{path}({at + 1}): {line.Length}");
                }
            }
        }

        AssertNone(faults);
    }

    private static void AssertNone(List<string> faults) => Assert.True(faults.Count == 0,
        $"{faults.Count} lines are longer than {MaxColumns} columns:\n{string.Join('\n', faults.Take(50))}");
}
