using System.Diagnostics;
using System.Globalization;
using Net.Zlink;

namespace ProxySample;

/// <summary>One row of numbers a second, like vmstat: what happened since the row before. On a terminal the row rewrites itself.</summary>
internal sealed class StatusLine(SocketProxy proxy, Worker[] workers)
{
    private const int RowsPerHeading = 20;
    private const string Heading = "requests/s  replies/s   MB/s   under way  busiest/idlest worker  GC 0/1/2";

    private ProxyStatistics _before = proxy.GetStatistics();
    private long[] _answered = new long[workers.Length];
    private long _shownAt = Stopwatch.GetTimestamp();
    private int _rows;

    /// <summary>Shows the row for the time since the last call.</summary>
    public void Show()
    {
        if (Console.IsOutputRedirected ? _rows % RowsPerHeading == 0 : _rows == 0)
        {
            Console.WriteLine(Heading);
        }

        _rows++;
        ProxyStatistics now = proxy.GetStatistics();
        long[] answered = [.. workers.Select(static worker => worker.Answered)];
        double seconds = Stopwatch.GetElapsedTime(_shownAt).TotalSeconds;
        _shownAt = Stopwatch.GetTimestamp();
        double[] perWorker = [.. answered.Zip(_answered, (a, b) => (a - b) / seconds)];
        double bytes = now.FrontReceived.Bytes - _before.FrontReceived.Bytes + now.FrontSent.Bytes - _before.FrontSent.Bytes;
        string row = string.Create(
            CultureInfo.InvariantCulture,
            $"{(now.FrontReceived.Messages - _before.FrontReceived.Messages) / seconds,10:N0}"
            + $"{(now.FrontSent.Messages - _before.FrontSent.Messages) / seconds,11:N0}"
            + $"{bytes / seconds / 1e6,7:N1}{now.FrontReceived.Messages - now.FrontSent.Messages,12:N0}"
            + $"{$"{perWorker.Max():N0}/{perWorker.Min():N0}",23}"
            + $"{$"{GC.CollectionCount(0)}/{GC.CollectionCount(1)}/{GC.CollectionCount(2)}",10}");

        // \r: to the left edge. ESC[K: erase what a longer row left behind.
        Console.Write(Console.IsOutputRedirected ? row + Environment.NewLine : $"\r{row}\e[K");
        _before = now;
        _answered = answered;
    }

    /// <summary>The row stays; what follows begins on a line of its own.</summary>
    public void Keep()
    {
        if (_rows > 0 && !Console.IsOutputRedirected)
        {
            Console.WriteLine();
        }
    }
}
