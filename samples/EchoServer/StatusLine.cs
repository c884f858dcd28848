using System.Diagnostics;
using System.Globalization;
using System.Text.Unicode;

namespace EchoServer;

/// <summary>
/// One row of numbers a second under a heading, like vmstat: what happened since the row before. On a terminal the row rewrites itself;
/// in a file each second is a line, and the heading comes back every 20 lines.
/// </summary>
internal sealed class StatusLine(EchoService service, Screen screen)
{
    private const int RowsPerHeading = 20;

    /// <summary>
    /// 77 columns: the row fits the narrowest terminal in use even when a Ctrl-C puts ^C behind it.
    /// The widths are those in <see cref="Show"/>.
    /// </summary>
    private const string Heading = "  conns   in msg/s  out msg/s  MB/s in handler p50    p99 GC 0/1/2    pool MB";

    private readonly HistogramWindow _times = new(service.HandlerTimes);
    private readonly byte[] _row = new byte[256];
    private EchoTotals _before = service.GetTotals();
    private long _shownAt = Stopwatch.GetTimestamp();
    private int _rows;

    /// <summary>Shows the row for the time since the last call.</summary>
    public void Show()
    {
        if (screen.IsTerminal ? _rows == 0 : _rows % RowsPerHeading == 0)
        {
            screen.WriteLine(Heading);
        }

        _rows++;
        EchoTotals now = service.GetTotals();
        double seconds = Stopwatch.GetElapsedTime(_shownAt).TotalSeconds;
        _shownAt = Stopwatch.GetTimestamp();
        _times.Close();
        (double used, double kept) = service.GetPoolMegabytes();

        double inPerSecond = (now.MessagesIn - _before.MessagesIn) / seconds;
        double outPerSecond = (now.MessagesOut - _before.MessagesOut) / seconds;
        double megabytesIn = (now.BytesIn - _before.BytesIn) / seconds / 1e6;
        Utf8.TryWrite(
            _row,
            CultureInfo.InvariantCulture,
            $"{now.Connections,7:N0}{inPerSecond,11:N0}{outPerSecond,11:N0}{megabytesIn,9:N1}"
            + $"{_times.Percentile(50),12}{_times.Percentile(99),7}{GcCounts.Now,9}{used,6:N1}/{kept:N1}",
            out int length);
        screen.ShowLive(_row.AsSpan(0, length));

        _before = now;
        _times.Open();
    }
}
