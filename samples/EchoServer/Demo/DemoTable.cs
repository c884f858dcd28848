using System.Globalization;

namespace EchoServer.Demo;

/// <summary>The results as a table of 79 columns, with a bar beside the figure that people compare first.</summary>
internal static class DemoTable
{
    private const int BarWidth = 10;

    /// <summary>Nothing where there are none.</summary>
    public static void Write(Screen screen, IReadOnlyCollection<DemoResult> results)
    {
        if (results.Count == 0)
        {
            return;
        }

        double fastest = results.Max(result => result.MessagesPerSecond);
        screen.WriteLine("conns x flight      msg/s               MB/s     p50     p99  GC 0/1/2  B/msg");
        foreach (DemoResult result in results)
        {
            var bar = new Bar(result.MessagesPerSecond / fastest, BarWidth, screen.HasBlocks);
            screen.WriteLine(string.Create(
                CultureInfo.InvariantCulture,
                $"{result.Step.ToString(),14}{result.MessagesPerSecond,11:N0}  {bar}{result.MegabytesPerSecond,8:N1}"
                + $"{result.P50,8}{result.P99,8}{result.Collections,10}{result.AllocatedPerMessage,7:F2}"));
        }
    }
}
