using Net.Zlink.Benchmarks.Common;

namespace Net.Zlink.Benchmarks.Profile;

/// <summary>A trace's summary for people.</summary>
internal static class TraceReport
{
    // A signature with all its namespaces does not fit a terminal.
    private const int NameWidth = 110;
    private const double Percent = 100;

    public static void Print(TraceSummary summary, int top)
    {
        FrameTable running = summary.Running;
        Console.WriteLine($"samples: {running.Total:N0} of running threads, {summary.WaitingSamples:N0} of waiting ones (left out below)");
        Console.WriteLine("A method's share is of the samples of running threads; [native] is time in a system call or in the runtime, "
            + "below the method that made it.");
        Console.WriteLine();
        Table("exclusive", running, running.Frames.OrderByDescending(frame => frame.Exclusive), top);
        Table("inclusive", running, running.Frames.OrderByDescending(frame => frame.Inclusive), top);
        if (summary.Sought is not null)
        {
            Table($"callers of *{summary.Sought}*", summary.Callers, summary.Callers.Frames.OrderByDescending(frame => frame.Exclusive),
                top);
            Table($"called by *{summary.Sought}*", summary.Callees, summary.Callees.Frames.OrderByDescending(frame => frame.Exclusive),
                top);
        }

        PrintRuntime(summary);
        if (summary.Contended.Total > 0)
        {
            Table("contended (share of the time waited)", summary.Contended,
                summary.Contended.Frames.OrderByDescending(frame => frame.Exclusive), top);
        }

        if (summary.Allocated.Total > 0)
        {
            Pairs("allocated types, bytes", summary.AllocatedTypes, top);
            Table("allocating", summary.Allocated, summary.Allocated.Frames.OrderByDescending(frame => frame.Exclusive), top);
            Table("allocating, inclusive", summary.Allocated, summary.Allocated.Frames.OrderByDescending(frame => frame.Inclusive), top);
        }
    }

    private static void PrintRuntime(TraceSummary summary)
    {
        Console.WriteLine($"collections: gen0 {summary.Collections[0]}, gen1 {summary.Collections[1]}, gen2 {summary.Collections[2]}; "
            + $"paused {summary.PauseMilliseconds:0.0} ms in all, {summary.LongestPauseMilliseconds:0.0} ms at most");
        Console.WriteLine($"lock contention: {summary.Contentions:N0} times, {summary.ContentionMilliseconds:0.0} ms waited in all");
        Console.WriteLine($"thread pool: at most {summary.MostPoolThreads} threads seen; adjustments: {Join(summary.PoolAdjustments)}");
        Console.WriteLine($"exceptions: {Join(summary.Exceptions)}");
        if (summary.LostEvents > 0)
        {
            Console.WriteLine($"{summary.LostEvents:N0} events were lost: the shares above are of what was kept.");
        }

        Console.WriteLine();
    }

    private static string Join(Dictionary<string, long> counts) => counts.Count == 0 ? "none"
        : string.Join(", ", counts.OrderByDescending(c => c.Value).Select(c => $"{c.Key} {c.Value:N0}"));

    private static void Table(string title, FrameTable frames, IEnumerable<FrameCount> ordered, int top)
    {
        var table = new TextTable(title, "exclusive %", "inclusive %");
        foreach (FrameCount frame in ordered.Take(top))
        {
            table.Add(Shorten(frame.Method), $"{frame.Exclusive * Percent / frames.Total:0.0}",
                $"{frame.Inclusive * Percent / frames.Total:0.0}");
        }

        Console.WriteLine(table);
    }

    private static void Pairs(string title, Dictionary<string, long> counts, int top)
    {
        var table = new TextTable(title, "sum");
        foreach (KeyValuePair<string, long> pair in counts.OrderByDescending(c => c.Value).Take(top))
        {
            table.Add(Shorten(pair.Key), $"{pair.Value:N0}");
        }

        Console.WriteLine(table);
    }

    /// <summary>Type and method without parameters: overloads differ rarely where it matters, and the trace has them.</summary>
    private static string Shorten(string name)
    {
        int bracket = name.IndexOf('(', StringComparison.Ordinal);
        string brief = bracket > 0 ? name[..bracket] : name;
        return brief.Length <= NameWidth ? brief : "..." + brief[^(NameWidth - 3)..];
    }
}
