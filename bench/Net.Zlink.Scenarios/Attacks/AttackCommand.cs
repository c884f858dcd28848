using System.CommandLine;
using System.Diagnostics;
using System.Globalization;
using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Scenarios.Results;

namespace Net.Zlink.Scenarios.Attacks;

/// <summary>Attacks and pauses, one after the other, for a time.</summary>
internal static class AttackCommand
{
    private const double SecondsPerMinute = 60;

    // A year, as in soak.
    private const double MostMinutes = 365 * 24 * 60;

    /// <param name="all">The rows there are; null: <see cref="AttackRows.All"/>.</param>
    public static Command Create(IReadOnlyList<AttackRow>? all = null)
    {
        all ??= AttackRows.All;
        var minutes = new Option<double>("--minutes")
        {
            Description = "How long: rounds of all rows follow each other for that time. One round is always run.",
            DefaultValueFactory = _ => 0,
        };
        Option<int> seconds = new Option<int>("--round-seconds")
        {
            Description = "How long a row takes in a round.",
            DefaultValueFactory = _ => 10,
        }.AtLeast(1).AtMost(OptionChecks.SecondsOfADay);
        var rows = new Option<string[]>("--row")
        {
            Description = "Which rows, repeatable: a name, or its beginning with a * behind it.",
            DefaultValueFactory = _ => ["*"],
        };
        var command = new ExampleCommand(
            "attack",
            "Peers that never finish a handshake, floods without payload, pauses, returning clients and large messages on a small heap, "
                + "each beside good clients. The table has the worst round of each row. Exit code 1 if one missed its limit.",
            "... attack --minutes 480",
            "... attack --row flood-ws-* --round-seconds 5");
        foreach (Option option in new Option[] { minutes, seconds, rows })
        {
            command.Add(option);
        }

        command.SetAction((request, cancellation) => RunAsync(
            request.GetValue(minutes), TimeSpan.FromSeconds(request.GetValue(seconds)), request.GetValue(rows)!, all, cancellation));
        return command;
    }

    private static async Task<int> RunAsync(
        double minutes, TimeSpan round, string[] names, IReadOnlyList<AttackRow> all, CancellationToken cancellation)
    {
        if (!(minutes is >= 0 and <= MostMinutes))
        {
            throw new RequestException(string.Create(CultureInfo.InvariantCulture, $"--minutes must be 0 to {MostMinutes:N0}."));
        }

        AttackRow[] rows = [.. all.Where(row => names.Any(name => Matches(row.Name, name)))];
        if (rows.Length == 0)
        {
            throw new RequestException($"No row has that name. There are: {string.Join(", ", all.Select(row => row.Name))}.");
        }

        var worst = new Dictionary<(string Row, string Figure), AttackFigure>();
        var faults = new List<string>();
        long start = Stopwatch.GetTimestamp();
        int rounds = 0;
        do
        {
            rounds++;
            foreach (AttackRow row in rows)
            {
                await RunRowAsync(row, round, worst, faults, cancellation);
            }
        }
        while (Stopwatch.GetElapsedTime(start).TotalSeconds < minutes * SecondsPerMinute);

        return Report(worst, faults, rounds);
    }

    private static async Task RunRowAsync(AttackRow row, TimeSpan round, Dictionary<(string Row, string Figure), AttackFigure> worst,
        List<string> faults, CancellationToken cancellation)
    {
        try
        {
            foreach (AttackFigure figure in await row.RunAsync(round, cancellation))
            {
                worst[(row.Name, figure.Name)] = worst.TryGetValue((row.Name, figure.Name), out AttackFigure? before)
                    ? figure.Worse(before) : figure;
                Console.Error.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{row.Name}: {figure.Name} {figure.Value:0.##}"));
            }
        }
        catch (Exception e) when (e is ZlinkException or IOException or InvalidOperationException)
        {
            faults.Add($"{row.Name}: {e.Message}");
            Console.Error.WriteLine(faults[^1]);
        }
    }

    private static int Report(Dictionary<(string Row, string Figure), AttackFigure> worst, List<string> faults, int rounds)
    {
        var table = new TextTable("row", "figure", "limit", "worst", "verdict");
        foreach (((string row, string name), AttackFigure figure) in worst)
        {
            table.Add(row, name, figure.LimitText, figure.Value.ToString("0.##", CultureInfo.InvariantCulture),
                figure.Limit is null ? "-" : figure.Passed ? ResultRow.Pass : ResultRow.Fail);
        }

        Console.WriteLine(table);
        faults.ForEach(static fault => Console.WriteLine($"fault: {fault}"));
        bool passed = faults.Count == 0 && worst.Values.All(static figure => figure.Passed);
        Console.WriteLine($"ATTACK rounds={rounds} faults={faults.Count} pass_fail={(passed ? ResultRow.Pass : ResultRow.Fail)}");
        return passed ? 0 : CommandLineProgram.Failed;
    }

    private static bool Matches(string row, string name) => name.EndsWith('*') ? row.StartsWith(name[..^1], StringComparison.Ordinal)
        : string.Equals(row, name, StringComparison.Ordinal);
}
