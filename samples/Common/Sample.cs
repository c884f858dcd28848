using System.CommandLine;
using System.Globalization;
using Net.Zlink;

namespace Samples;

/// <summary>What the small samples share: options that explain themselves, one-line errors, and exit codes (0: it did what it should; 1: it
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
        CustomParser = argument =>
        {
            string given = argument.Tokens[0].Value;
            if (int.TryParse(given, NumberStyles.None, CultureInfo.InvariantCulture, out int value) && value >= least && value <= most)
            {
                return value;
            }

            argument.AddError(string.Create(CultureInfo.InvariantCulture,
                $"{name} cannot be '{given}': use a whole number from {least} to {most}"));
            return standard;
        },
    };

    /// <summary>Where to bind; by default a free port of this machine.</summary>
    public static Option<string> Endpoint(string standard = "tcp://127.0.0.1:0") => new("--endpoint", "-e")
    {
        Description = "Where to meet: tcp://host:port (port 0: any free one), ipc://path or inproc://name",
        HelpName = "endpoint",
        DefaultValueFactory = _ => standard,
    };

    /// <summary>Parses the arguments and runs the demo. <paramref name="run"/> returns what went wrong, or null. Ctrl-C and SIGTERM cancel
    /// its token: it says what it has done until then, and throws on.</summary>
    public static async Task<int> RunAsync(string name, RootCommand command, string[] arguments, Func<ParseResult, CancellationToken,
        Task<string?>> run)
    {
        ParseResult result = command.Parse(arguments);
        if (result.Errors.Count > 0)
        {
            return Report(name, $"{result.Errors[0].Message.TrimEnd('.')}. Run with --help to see the options.", CannotStart);
        }

        if (result.Action is not null)
        {
            return await result.InvokeAsync().ConfigureAwait(false); // Help or version.
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

    private static int Report(string name, string sentence, int exitCode)
    {
        Console.Error.WriteLine($"{name}: {sentence.ReplaceLineEndings(" ")}");
        return exitCode;
    }
}
