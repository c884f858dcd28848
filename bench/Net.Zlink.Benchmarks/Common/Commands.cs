using System.CommandLine;
using System.CommandLine.Help;
using System.CommandLine.Invocation;
using Net.Zlink.Benchmarks.Alloc;
using Net.Zlink.Benchmarks.Compare;
using Net.Zlink.Benchmarks.Many;
using Net.Zlink.Benchmarks.Micro;
using Net.Zlink.Benchmarks.Patterns;
using Net.Zlink.Benchmarks.Profile;

namespace Net.Zlink.Benchmarks.Common;

/// <summary>The program's commands. Exit codes: 0 good, 1 a bar was missed or a run failed, 2 the request was wrong, 3 a bar lies within the noise.</summary>
internal static class Commands
{
    public const int Failed = 1;
    public const int WrongRequest = 2;
    public const int WithinNoise = 3;

    public static async Task<int> RunAsync(string[] args)
    {
        RootCommand root = MicroCommand.CreateRoot();
        root.Add(MicroCommand.Create());
        root.Add(AllocCommand.Create());
        root.Add(AllocChild.CreateServer());
        root.Add(AllocChild.CreateClient());
        root.Add(AllocChild.CreateSockets());
        root.Add(CompareCommand.Create());
        root.Add(PatternsCommand.Create());
        root.Add(PatternRunCommand.Create());
        root.Add(ManyCommand.Create());
        root.Add(ManyRunCommand.Create());
        root.Add(ProfileCommand.Create());
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
