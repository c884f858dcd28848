using System.Globalization;
using Net.Zlink.Benchmarks.Common;

namespace Net.Zlink.Benchmarks.Compare;

/// <summary>One case's result for people.</summary>
internal static class Report
{
    public static void Print(CaseResult result, IReadOnlyList<ServerSpec> servers)
    {
        string first = servers[0].Name;
        Metric[] shown = [.. Metric.All.Where(metric => result.Runs.Any(run => metric.Of(run) is not null))];
        Console.WriteLine($"case {result.Case.Name}: {result.Case.Shape}; medians of {result.Rounds} rounds (lowest..highest)");
        Console.WriteLine();
        PrintTable("figures", shown, servers, (name, metric) =>
            Spread.Of(Ratios.Figures(result.Runs, name, metric))?.ToString(metric.Format), result);
        PrintTable($"ratio to {first}", shown, servers,
            (name, metric) => Spread.Of(Ratios.Of(result.Runs, name, first, metric))?.ToString("0.00"), result);
        PrintRounds(result, servers, first);
        PrintBars(result);
        PrintDoubts(result, first);
    }

    private static void PrintTable(string title, Metric[] shown, IReadOnlyList<ServerSpec> servers, Func<string, Metric, string?> cell,
        CaseResult result)
    {
        var table = new TextTable([title, .. shown.Select(metric => metric.Title), "result"]);
        foreach (ServerSpec server in servers)
        {
            int failed = result.Runs.Count(run => !run.IsGood && string.Equals(run.Server, server.Name, StringComparison.Ordinal));
            table.Add([server.Name, .. shown.Select(metric => cell(server.Name, metric) ?? "-"), failed == 0 ? "PASS"
                : $"{failed} FAILED"]);
        }

        Console.WriteLine(table);
    }

    private static void PrintRounds(CaseResult result, IReadOnlyList<ServerSpec> servers, string first)
    {
        if (servers.Count > 1 && Ratios.Figures(result.Runs, first, Metric.Rate).Count > 0)
        {
            Console.WriteLine($"msg/s per round, as a ratio to {first}:");
            foreach (ServerSpec server in servers.Skip(1))
            {
                IEnumerable<string> ratios = Ratios.Of(result.Runs, server.Name, first, Metric.Rate)
                    .Select(static ratio => ratio.ToString("0.00", CultureInfo.InvariantCulture));
                Console.WriteLine($"  {server.Name}: {string.Join("  ", ratios)}");
            }

            Console.WriteLine();
        }
    }

    private static void PrintBars(CaseResult result)
    {
        foreach (BarResult bar in result.Bars)
        {
            Console.WriteLine(bar);
        }

        if (result.Bars.Count > 0)
        {
            Console.WriteLine();
        }
    }

    private static void PrintDoubts(CaseResult result, string first)
    {
        foreach (Run run in result.Runs.Where(run => !run.IsGood))
        {
            Console.WriteLine($"failed: {run.Server}, round {run.Round}: {run.Fault}");
        }

        foreach (string doubt in Doubts.Of(result.Runs, first, result.Case.Own))
        {
            Console.WriteLine($"doubt: {doubt}; this table is void, run it again on a quiet machine.");
        }

        Console.WriteLine();
    }
}
