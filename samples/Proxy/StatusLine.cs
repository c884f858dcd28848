using System.Diagnostics;
using System.Globalization;
using Net.Zlink;
using Samples;
using Spectre.Console;

namespace ProxySample;

/// <summary>One row of numbers a second, like vmstat: what happened since the row before. In a terminal it is a table that is drawn over
/// itself.</summary>
internal sealed class StatusLine(SocketProxy proxy, Worker[] workers)
{
    private const int RowsPerHeading = 20;

    private static readonly string[] Heading = ["requests/s", "replies/s", "MB/s", "under way", "busiest/idlest worker", "GC 0/1/2"];

    private readonly LivePanel _panel = new(AnsiConsole.Console, isCleared: false);
    private ProxyStatistics _before = proxy.GetStatistics();
    private long[] _answered = new long[workers.Length];
    private long _shownAt = Stopwatch.GetTimestamp();
    private int _rows;

    /// <summary>Shows the row for the time since the last call.</summary>
    public void Show()
    {
        ProxyStatistics now = proxy.GetStatistics();
        long[] answered = [.. workers.Select(static worker => worker.Answered)];
        double seconds = Stopwatch.GetElapsedTime(_shownAt).TotalSeconds;
        _shownAt = Stopwatch.GetTimestamp();
        double[] perWorker = [.. answered.Zip(_answered, (a, b) => (a - b) / seconds)];
        double bytes = now.FrontReceived.Bytes - _before.FrontReceived.Bytes + now.FrontSent.Bytes - _before.FrontSent.Bytes;
        FormattableString[] row =
        [
            $"{(now.FrontReceived.Messages - _before.FrontReceived.Messages) / seconds:N0}",
            $"{(now.FrontSent.Messages - _before.FrontSent.Messages) / seconds:N0}",
            $"{bytes / seconds / 1e6:N1}",
            $"{now.FrontReceived.Messages - now.FrontSent.Messages:N0}",
            $"{perWorker.Max():N0}/{perWorker.Min():N0}",
            $"{GC.CollectionCount(0)}/{GC.CollectionCount(1)}/{GC.CollectionCount(2)}",
        ];
        Write([.. row.Select(static cell => cell.ToString(CultureInfo.InvariantCulture))]);
        (_before, _answered) = (now, answered);
    }

    /// <summary>The row stays; what follows begins on a line of its own.</summary>
    public void End() => _panel.End();

    private void Write(string[] row)
    {
        if (!Console.IsOutputRedirected)
        {
            Table table = new Table().RoundedBorder().AddColumns(Heading).AddRow(row);
            foreach (TableColumn column in table.Columns)
            {
                column.RightAligned();
            }

            _panel.Show(table);
            return;
        }

        if (_rows++ % RowsPerHeading == 0)
        {
            Console.WriteLine(string.Join("  ", Heading));
        }

        Console.WriteLine(string.Join("  ", row.Select(static (cell, i) => cell.PadLeft(Heading[i].Length))));
    }
}
