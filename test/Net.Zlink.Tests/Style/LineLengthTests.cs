using Xunit;

namespace Net.Zlink.Tests.Style;

/// <summary>What .editorconfig promises and no formatter enforces.</summary>
public sealed class LineLengthTests
{
    private const int MaxColumns = 140;

    [Fact]
    public void Lines_of_code_have_at_most_140_columns()
    {
        string[] faults =
        [
            .. RepositoryFiles.Code("src", "test", "bench", "samples").SelectMany(static file => file.Text.Split('\n')
                .Select(static (line, at) => (Number: at + 1, Columns: line.TrimEnd('\r').Length))
                .Where(static line => line.Columns > MaxColumns)
                .Select(line => $"{file.Path}({line.Number}): {line.Columns}")),
        ];
        Assert.True(faults.Length == 0, $"{faults.Length} lines are longer than {MaxColumns} columns:\n{string.Join('\n', faults.Take(50))}");
    }
}
