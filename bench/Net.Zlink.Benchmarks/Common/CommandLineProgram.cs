using System.CommandLine;
using System.CommandLine.Help;
using System.CommandLine.Invocation;

namespace Net.Zlink.Benchmarks.Common;

/// <summary>Runs a program of commands: help with examples, one line per mistake, and exit codes that mean something.</summary>
internal static class CommandLineProgram
{
    public const int Failed = 1;
    public const int WrongRequest = 2;

    public static async Task<int> RunAsync(RootCommand root, string[] args)
    {
        HelpOption help = root.Options.OfType<HelpOption>().First();
        help.Action = new HelpWithExamples((HelpAction)help.Action!);

        ParseResult request = root.Parse(args);
        if (request.Errors.Count > 0 && request.Action is not HelpWithExamples)
        {
            foreach (System.CommandLine.Parsing.ParseError error in request.Errors)
            {
                Console.Error.WriteLine(error.Message);
            }

            Console.Error.WriteLine("See --help.");
            return WrongRequest;
        }

        try
        {
            return await request.InvokeAsync(new InvocationConfiguration { EnableDefaultExceptionHandler = false });
        }
        catch (RequestException e)
        {
            Console.Error.WriteLine(e.Message);
            return WrongRequest;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            // A file that cannot be read or written: the path is in the sentence.
            Console.Error.WriteLine(e.Message);
            return WrongRequest;
        }
        catch (OperationCanceledException)
        {
            Console.Error.WriteLine("Stopped.");
            return Failed;
        }
    }

    private sealed class HelpWithExamples(HelpAction help) : SynchronousCommandLineAction
    {
        public override bool ClearsParseErrors => true;

        public override int Invoke(ParseResult parseResult)
        {
            int code = help.Invoke(parseResult);
            if (parseResult.CommandResult.Command is IHasExamples command)
            {
                Console.WriteLine("Examples:");
                foreach (string example in command.Examples)
                {
                    Console.WriteLine("  " + example);
                }

                Console.WriteLine();
            }

            return code;
        }
    }
}
