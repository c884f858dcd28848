using System.CommandLine;
using System.Diagnostics;
using System.Globalization;
using Xunit.Runner.InProc.SystemConsole;

namespace Net.Zlink.Fuzzing;

/// <summary>The tests; with "fuzz" as first argument the fuzzer.</summary>
internal static class Program
{
    private const string Verb = "fuzz";
    private const string AllTargets = "all";

    // An input takes far less than a millisecond as a rule.
    private static readonly TimeSpan s_hang = TimeSpan.FromSeconds(20);

    private static volatile bool s_isCancelled;

    public static async Task<int> Main(string[] args) =>
        args is not [Verb, ..] ? await ConsoleRunner.Run(args)
        : InstrumentedCopy.IsThis ? Command().Parse(args[1..]).Invoke()
        : InstrumentedCopy.Run(args);

    private static RootCommand Command()
    {
        var target = new Argument<string>("target") { Description = "One target, or all one after the other." };
        target.AcceptOnlyFromAmong([AllTargets, .. FuzzTarget.Names]);
        var seconds = new Option<double>("--seconds") { Description = "For each target.", DefaultValueFactory = static _ => 60 };
        var seed = new Option<int>("--seed") { Description = "Any number.", DefaultValueFactory = static _ => Environment.TickCount };
        var save = new Option<bool>("--save") { Description = "Replaces the saved inputs by the fewest that reach all edges reached." };
        var command = new RootCommand("Gives a target changed inputs until one fails, and saves that.") { target, seconds, seed, save };
        command.SetAction(parsed =>
        {
            Console.CancelKeyPress += static (_, pressed) => s_isCancelled = pressed.Cancel = true;
            Coverage coverage = Coverage.OfInstrumentedCode();
            string name = parsed.GetRequiredValue(target);
            var time = TimeSpan.FromSeconds(parsed.GetValue(seconds));
            string[] names = name is AllTargets ? FuzzTarget.Names : [name];
            return names.Count(one => !s_isCancelled && !Fuzz(one, coverage, time, parsed.GetValue(seed), parsed.GetValue(save)));
        });
        return command;
    }

    /// <returns>Whether no input failed.</returns>
    private static bool Fuzz(string name, Coverage coverage, TimeSpan time, int seed, bool saves)
    {
        using FuzzTarget target = FuzzTarget.Create(name, coverage);
        var fuzzer = new Fuzzer(target, coverage, seed);
        long started = Stopwatch.GetTimestamp();
        using var watch = new Timer(_ =>
        {
            Console.WriteLine(Report());
            if (fuzzer.Running > s_hang)
            {
                Corpus.SaveFailing(name, fuzzer.Current, $"ran for more than {s_hang}");
                Environment.Exit(1);
            }
        }, state: null, s_hang, s_hang);
        UnhandledExceptionEventHandler onCrash = (_, crash) => Corpus.SaveFailing(name, fuzzer.Current, $"{crash.ExceptionObject}");
        AppDomain.CurrentDomain.UnhandledException += onCrash;
        (byte[] Input, Exception Failure)? found = fuzzer.Run(
            [.. target.Seeds, .. Corpus.Load(name)], () => s_isCancelled || Stopwatch.GetElapsedTime(started) > time);
        AppDomain.CurrentDomain.UnhandledException -= onCrash;
        Console.WriteLine(Report());
        if (found is var (input, failure))
        {
            Corpus.SaveFailing(name, input, $"{failure.GetType().Name}: {failure.Message}");
            Console.WriteLine($"FAILED with {Convert.ToHexString(input)}\n{failure}");
            return false;
        }

        if (saves)
        {
            Corpus.Save(name, fuzzer.Distill());
        }

        return true;

        string Report() => string.Create(CultureInfo.InvariantCulture,
            $"{name}: {fuzzer.Executions:N0} inputs in {Stopwatch.GetElapsedTime(started).TotalSeconds:F0} s, {fuzzer.Edges:N0} edges, "
            + $"{fuzzer.Kept.Count} kept, seed {seed}");
    }
}
