using System.CommandLine;
using System.CommandLine.Help;
using System.CommandLine.Invocation;
using System.CommandLine.Parsing;
using Net.Zlink.Services;
using Net.Zlink.Tool.Commands;

namespace Net.Zlink.Tool;

/// <summary>The root command: parses, runs, and turns each end into an exit code and one line.</summary>
internal sealed class ZlinkTool(TextReader input, TextWriter output, TextWriter error)
{
    public ToolOptions Options { get; } = new();

    /// <summary>Runs one command line.</summary>
    /// <returns>The <see cref="ExitCode"/>.</returns>
    public static async Task<int> RunAsync(
        string[] arguments, TextReader input, TextWriter output, TextWriter error, CancellationToken cancellation = default)
    {
        var tool = new ZlinkTool(input, output, error);
        ParseResult given = tool.CreateRoot().Parse(arguments);
        string? mistake = UnknownCommand(given) ?? (given.Errors is [{ } first, ..] ? first.Message : UnknownOption(given));
        if (mistake is not null && given.Action is not { ClearsParseErrors: true })
        {
            string[] names = [.. given.CommandResult.Names()];
            tool.Report($"{mistake.TrimEnd('.')}. See: {string.Join(' ', ["zlink", .. names, "--help"])}");
            return ExitCode.Usage;
        }

        var configuration = new InvocationConfiguration { Output = output, Error = error, EnableDefaultExceptionHandler = false };
        return await given.InvokeAsync(configuration, cancellation).ConfigureAwait(false);
    }

    /// <summary>A command that does something.</summary>
    /// <param name="name">What the user writes.</param>
    /// <param name="description">Its help.</param>
    /// <param name="examples">Lines at the end of its help.</param>
    /// <param name="symbols">Its arguments and options, in their order.</param>
    /// <param name="run">What it does. Throws a <see cref="ToolException"/> where it fails.</param>
    /// <param name="limit">How long it may take where no --timeout is given.</param>
    public Command Create(
        string name, string description, string examples, Symbol[] symbols, Func<CommandRun, Task> run, TimeSpan? limit = null)
    {
        var command = new Command(name, description);
        foreach (Symbol symbol in symbols)
        {
            if (symbol is Argument argument)
            {
                command.Arguments.Add(argument);
            }
            else
            {
                command.Options.Add((Option)symbol);
            }
        }

        var help = new HelpOption();
        help.Action = new HelpWithExamples((HelpAction)help.Action!, examples);
        command.Options.Add(help);
        command.SetAction((given, cancellation) => RunAsync(given, run, limit, cancellation));
        return command;
    }

    /// <summary>One line on standard error.</summary>
    public void Report(string sentence) => error.WriteLine($"zlink: {sentence.ReplaceLineEndings(" ")}");

    /// <summary>Of a word where a command is wanted, the parser's first complaint is that no command was given.</summary>
    private static string? UnknownCommand(ParseResult given) =>
        given.CommandResult.Command.Subcommands.Count > 0 && given.UnmatchedTokens is [{ } word, ..]
            ? $"there is no command '{word}' here"
            : null;

    /// <summary>A command that takes any number of parts would take a mistyped option as one.</summary>
    private static string? UnknownOption(ParseResult given) =>
        given.Tokens.All(static token => token.Type is not TokenType.DoubleDash)
        && given.Tokens.FirstOrDefault(static token => token.Type is TokenType.Argument
            && token.Value.StartsWith("--", StringComparison.Ordinal)) is { } unknown
            ? $"there is no option {unknown.Value} here; if it is part of a message, write -- before the message"
            : null;

    private RootCommand CreateRoot()
    {
        var root = new RootCommand("Talks to programs that use Net.Zlink or the zlink core. 'zlink COMMAND --help' has examples.");
        foreach (Command command in (Command[])
        [
            PublishCommands.Sub(this), PublishCommands.Pub(this), RequestCommands.Req(this), RequestCommands.Reply(this),
            QueueCommands.Push(this), QueueCommands.Pull(this), StreamCommand.Create(this), ProbeCommand.Create(this),
            RegistryCommands.Create(this), ServiceCommands.Create(this), SpotCommands.Create(this), ProxyCommand.Create(this),
            TopCommand.Create(this), BenchCommand.Create(this), CompletionCommand.Create(this),
        ])
        {
            root.Subcommands.Add(command);
        }

        return root;
    }

    private async Task<int> RunAsync(ParseResult given, Func<CommandRun, Task> run, TimeSpan? limit, CancellationToken cancellation)
    {
        var command = new CommandRun(this, given, input, output, limit, cancellation);
        await using (command.ConfigureAwait(false))
        {
            try
            {
                await run(command).ConfigureAwait(false);
                await command.DeliverAsync().ConfigureAwait(false);
                return ExitCode.Done;
            }
            catch (OperationCanceledException) when (command.Failure is null)
            {
                return cancellation.IsCancellationRequested ? ExitCode.Stopped : command.EndOfTime();
            }
            catch (Exception e) when (e is ToolException or ZlinkException or ServiceException or OperationCanceledException
                or IOException or TimeoutException or ArgumentException)
            {
                Report(command.Failure ?? e.Message);
                return e switch
                {
                    ToolException known => known.ExitCode,
                    ZlinkException { Error: ZlinkError.InvalidArgument or ZlinkError.ProtocolNotSupported } => ExitCode.Usage,
                    _ => ExitCode.Failed,
                };
            }
        }
    }

    private sealed class HelpWithExamples(HelpAction standard, string examples) : SynchronousCommandLineAction
    {
        public override bool ClearsParseErrors => true;

        public override int Invoke(ParseResult parseResult)
        {
            int exitCode = standard.Invoke(parseResult);
            parseResult.InvocationConfiguration.Output.WriteLine($"Examples:\n{examples}");
            return exitCode;
        }
    }
}
