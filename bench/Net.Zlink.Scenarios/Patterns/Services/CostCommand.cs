using System.CommandLine;
using System.Diagnostics;
using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Scenarios.Patterns.Running;

namespace Net.Zlink.Scenarios.Patterns.Services;

/// <summary>A command that measures what services cost, prints medians, and judges them.</summary>
internal sealed class CostCommand(string name, string description, params string[] examples)
{
    public const string Endpoint = "tcp://127.0.0.1:*";
    public const double MaxIdlePercent = 0.2;
    private const double PercentOfOne = 100;
    private const double MostMinutes = 24 * 60;

    private readonly ExampleCommand _command = new(name, description, [$"... {name}", .. examples]);

    public Option<int> Number(string option, string text, int value, int least = 1)
    {
        Option<int> made = new Option<int>(option) { Description = text, DefaultValueFactory = _ => value }.AtLeast(least);
        _command.Add(made);
        return made;
    }

    public Option<int> Rounds() => Number("--rounds", "Rounds; the first is not judged.", 6, least: 2);

    public Option<bool> Switch(string option, string text)
    {
        var made = new Option<bool>(option) { Description = text };
        _command.Add(made);
        return made;
    }

    /// <summary>More than 0, at most a day.</summary>
    public Option<double> Minutes(string option, string text, double value)
    {
        var made = new Option<double>(option) { Description = text, DefaultValueFactory = _ => value };
        made.Validators.Add(result =>
        {
            if (!(result.GetValueOrDefault<double>() is > 0 and <= MostMinutes))
            {
                result.AddError(FormattableString.Invariant($"{option} must be more than 0 and at most {MostMinutes:0}."));
            }
        });
        _command.Add(made);
        return made;
    }

    /// <param name="passes">Measures, and returns whether all is as good as it must be.</param>
    public Command Runs(Func<ParseResult, CancellationToken, Task<bool>> passes)
    {
        _command.SetAction(async (request, cancellation) => await passes(request, cancellation) ? 0 : CommandLineProgram.Failed);
        return _command;
    }

    /// <summary>Prints the median and the spread, and returns the median.</summary>
    public static double Print(string what, string figure, IEnumerable<double> values, int size = 0)
    {
        Spread spread = Spread.Of([.. values])!.Value;
        Console.WriteLine(new ResultLine(PatternStack.Managed, what, "tcp", size, figure, spread.Median));
        Console.WriteLine($"  {spread.Min:0.00} to {spread.Max:0.00}");
        return spread.Median;
    }

    /// <summary>A pause between two looks.</summary>
    /// <exception cref="TimeoutException">The limit has passed since the start.</exception>
    public static Task DelayAsync(long start, TimeSpan limit, string what, CancellationToken cancellation) =>
        Stopwatch.GetElapsedTime(start) > limit ? throw new TimeoutException($"{what} within {limit.TotalSeconds:0} s.")
            : Task.Delay(1, cancellation);

    public static async Task<double> IdlePercentAsync(TimeSpan time, CancellationToken cancellation)
    {
        await Task.Delay(TimeSpan.FromSeconds(5), cancellation); // The runtime has compiled what ran before.
        TimeSpan before = Environment.CpuUsage.TotalTime;
        long start = Stopwatch.GetTimestamp();
        await Task.Delay(time, cancellation);
        return (Environment.CpuUsage.TotalTime - before) / Stopwatch.GetElapsedTime(start) * PercentOfOne;
    }

    /// <summary>What idle parts add to an idle process, whose runtime wakes now and then. A figure of 0 would pass for none.</summary>
    public static double AddedPercent(double without, double with) => Math.Max(0.01, with - without);
}
