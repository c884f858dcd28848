using System.Text;

namespace Net.Zlink.Benchmarks.Common;

/// <summary>A table in Markdown: readable in a terminal as it is, and ready to be pasted into docs/benchmarks/log.md.</summary>
internal sealed class TextTable(params string[] header)
{
    private readonly List<string[]> _rows = [header];

    public void Add(params string[] row) => _rows.Add(row);

    public override string ToString()
    {
        int[] widths = [.. Enumerable.Range(0, _rows[0].Length).Select(column => _rows.Max(row => row[column].Length))];
        var text = new StringBuilder();
        for (int i = 0; i < _rows.Count; i++)
        {
            // Names to the left, figures to the right.
            text.Append('|').AppendJoin('|', _rows[i]
                .Select((cell, column) => column == 0 ? $" {cell.PadRight(widths[0])} " : $" {cell.PadLeft(widths[column])} "))
                .AppendLine("|");
            if (i == 0)
            {
                text.Append('|').AppendJoin('|', widths.Select(
                    (width, column) => column == 0 ? new string('-', width + 2) : new string('-', width + 1) + ":")).AppendLine("|");
            }
        }

        return text.ToString();
    }
}
