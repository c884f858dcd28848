using System.CommandLine;
using System.CommandLine.Help;
using System.CommandLine.Invocation;
using System.CommandLine.Parsing;
using System.Globalization;
using Net.Zlink;

namespace Samples;

/// <summary>What the samples share: options that explain themselves, one-line errors, and exit codes (0: it did what it should; 1: it
/// did not; 2: it could not start).</summary>
internal static class Sample
{
    private const int Wrong = 1;
    private const int CannotStart = 2;

    /// <summary>A whole number with a range.</summary>
    public static Option<int> Number(string name, string description, int standard, int least, int most) => new(name)
    {
        Description = description,
        HelpName = "n",
        Arity = ArgumentArity.ExactlyOne,
        DefaultValueFactory = _ => standard,
        CustomParser = argument => ParseNumber(argument, name, least, most) ?? standard,
    };

    /// <summary>A whole number with a range; not given is no value.</summary>
    public static Option<int?> Number(string name, string description, int least, int most) => new(name)
    {
        Description = description,
        HelpName = "n",
        Arity = ArgumentArity.ExactlyOne,
        CustomParser = argument => ParseNumber(argument, name, least, most),
    };

    /// <summary>One of some words, each of which stands for a value; not given is the type's own default.</summary>
    public static Option<T> Choice<T>(string name, string description, params (string Word, T Value)[] choices) => new(name)
    {
        Description = description,
        HelpName = string.Join('|', choices.Select(static choice => choice.Word)),
        Arity = ArgumentArity.ExactlyOne,
        CustomParser = argument =>
        {
            string given = argument.Tokens[0].Value;
            foreach ((string word, T value) in choices)
            {
                if (string.Equals(word, given, StringComparison.OrdinalIgnoreCase))
                {
                    return value;
                }
            }

            string[] words = [.. choices.Select(static choice => choice.Word)];
            argument.AddError(
                $"{name} does not know '{given}': use {string.Join(", ", words[..^1])} or {words[^1]}");
            return default;
        },
    };

    /// <summary>Where to bind; by default a free port of this machine.</summary>
    public static Option<string> Endpoint(string standard = "tcp://127.0.0.1:0") => new("--endpoint", "-e")
    {
        Description = "Where to meet: tcp://host:port (port 0: any free one), ipc://path or inproc://name",
        HelpName = "endpoint",
        DefaultValueFactory = _ => standard,
    };

    /// <summary>The help ends with lines to copy.</summary>
    public static RootCommand WithExamples(this RootCommand command, string examples)
    {
        foreach (HelpOption help in command.Options.OfType<HelpOption>())
        {
            help.Action = new HelpWithExamples((HelpAction)help.Action!, examples);
        }

        return command;
    }

    /// <summary>Parses the arguments. Null: there is nothing more to do (help, version, a mistake) but to end with the exit code.</summary>
    public static ParseResult? Parse(string name, RootCommand command, string[] arguments, out int exitCode)
    {
        ParseResult result = command.Parse(arguments);
        exitCode = result.Errors.Count > 0 && result.Action is not HelpWithExamples
            ? Report(name, $"{result.Errors[0].Message.TrimEnd('.')}. Run with --help to see the options.", CannotStart)
            : result.Action is null ? 0 : result.Invoke(); // Help or version.
        return result.Errors.Count == 0 && result.Action is null ? result : null;
    }

    /// <summary>Parses the arguments and runs the demo. <paramref name="run"/> returns what went wrong, or null. Ctrl-C and SIGTERM cancel
    /// its token: it says what it has done until then, and throws on.</summary>
    public static async Task<int> RunAsync(string name, RootCommand command, string[] arguments, Func<ParseResult, CancellationToken,
        Task<string?>> run)
    {
        if (Parse(name, command, arguments, out int exitCode) is not { } result)
        {
            return exitCode;
        }

        using var stop = new CancellationTokenSource();
        using var signals = new StopSignals(stop);
        try
        {
            string? wrong = await run(result, stop.Token).ConfigureAwait(false);
            return wrong is null ? 0 : Report(name, wrong, Wrong);
        }
        catch (Exception e) when (e is ZlinkException or TimeoutException or IOException)
        {
            return Report(name, e.Message, CannotStart);
        }
        catch (OperationCanceledException)
        {
            return Report(name, "stopped before it was done", Wrong);
        }
    }

    /// <summary>One line on standard error that says what to do; never a stack trace.</summary>
    /// <returns>The exit code.</returns>
    public static int Report(string name, string sentence, int exitCode = CannotStart)
    {
        Console.Error.WriteLine($"{name}: {sentence.ReplaceLineEndings(" ")}");
        return exitCode;
    }

    private static int? ParseNumber(ArgumentResult argument, string name, int least, int most)
    {
        string given = argument.Tokens[0].Value;
        if (int.TryParse(given, NumberStyles.None, CultureInfo.InvariantCulture, out int value) && value >= least && value <= most)
        {
            return value;
        }

        argument.AddError(
            string.Create(CultureInfo.InvariantCulture, $"{name} cannot be '{given}': use a whole number from {least} to {most}"));
        return null;
    }

    private sealed class HelpWithExamples(HelpAction standard, string examples) : SynchronousCommandLineAction
    {
        public override bool ClearsParseErrors => true;

        public override int Invoke(ParseResult parseResult)
        {
            int exitCode = standard.Invoke(parseResult);
            parseResult.InvocationConfiguration.Output.WriteLine(examples);
            return exitCode;
        }
    }
}
