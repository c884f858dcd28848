using System.CommandLine;
using System.CommandLine.Help;
using System.CommandLine.Invocation;
using System.Globalization;

namespace ProxySample;

/// <summary>The options of the program: their names, their help and what makes a value acceptable.</summary>
internal sealed class CommandLine
{
    private static readonly string[] Transports = ["tcp", "ipc", "inproc"];

    private readonly Option<string> _transport = new("--transport", "-t")
    {
        Description = "How clients and workers reach the proxy",
        HelpName = string.Join('|', Transports),
        Arity = ArgumentArity.ExactlyOne,
        DefaultValueFactory = static _ => Transports[0],
        CustomParser = static argument =>
        {
            string given = argument.Tokens[0].Value;
            if (!Transports.Contains(given))
            {
                argument.AddError($"--transport does not know '{given}': use tcp, ipc or inproc");
            }

            return given;
        },
    };

    private readonly Option<int> _clients = Number("--clients", "Clients that ask", 1, 1_000, 4);
    private readonly Option<int> _workers = Number("--workers", "Workers that answer; requests go round them", 1, 1_000, 3);
    private readonly Option<int> _requests = Number("--requests", "Requests of all clients together", 1, 100_000_000, 400_000);
    private readonly Option<int> _size = Number("--size", "Bytes of a request", Request.SmallestSize, 1 << 20, 64);
    private readonly Option<int> _inFlight = Number("--in-flight", "Requests that one client has under way at most", 1, 100_000, 100);
    private readonly Option<bool> _capture = new(
        "--capture")
    { Description = "Send a copy of every message to a third socket, which counts them" };
    private readonly Option<bool> _quiet = new("--quiet", "-q") { Description = "No live status; the summary stays" };
    private readonly RootCommand _root;

    public CommandLine()
    {
        _root = new RootCommand(
            "A ROUTER/DEALER proxy on Net.Zlink between clients and workers, all in this process; every reply is checked.")
        {
            _transport, _clients, _workers, _requests, _size, _inFlight, _capture, _quiet,
        };
        foreach (HelpOption help in _root.Options.OfType<HelpOption>())
        {
            help.Action = new HelpWithExamples((HelpAction)help.Action!);
        }
    }

    /// <summary>Reads the arguments. When the program has nothing more to do (help, version, a mistake), returns null and the exit
    /// code.</summary>
    public Options? Read(string[] arguments, out int exitCode)
    {
        ParseResult result = _root.Parse(arguments);
        if (result.Errors.Count > 0 && result.Action is not HelpWithExamples)
        {
            exitCode = Problem.Report($"{result.Errors[0].Message.TrimEnd('.')}. Run with --help to see the options.");
            return null;
        }

        if (result.Action is not null)
        {
            exitCode = result.Invoke();
            return null;
        }

        exitCode = 0;
        return new Options
        {
            Transport = result.GetValue(_transport)!,
            Clients = result.GetValue(_clients),
            Workers = result.GetValue(_workers),
            Requests = result.GetValue(_requests),
            Size = result.GetValue(_size),
            InFlight = result.GetValue(_inFlight),
            Capture = result.GetValue(_capture),
            Quiet = result.GetValue(_quiet),
        };
    }

    private static Option<int> Number(string name, string description, int least, int most, int standard) => new(name)
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

            argument.AddError($"{name} cannot be '{given}': use a whole number from {least} to {most}");
            return standard;
        },
    };

    private sealed class HelpWithExamples(HelpAction standard) : SynchronousCommandLineAction
    {
        public override bool ClearsParseErrors => true;

        public override int Invoke(ParseResult parseResult)
        {
            int exitCode = standard.Invoke(parseResult);
            parseResult.InvocationConfiguration.Output.WriteLine(
                """
                Examples:
                  Proxy                                      4 clients, 3 workers, 400,000 requests over tcp, in some seconds
                  Proxy --transport inproc --size 65536      messages pass the proxy by reference, uncopied
                  Proxy --workers 1 --in-flight 1            round trips one by one: what a request costs when nothing else goes on
                  Proxy --capture                            with a third socket that sees everything

                From the source tree: dotnet run -c Release --project samples/Proxy
                """);
            return exitCode;
        }
    }
}
