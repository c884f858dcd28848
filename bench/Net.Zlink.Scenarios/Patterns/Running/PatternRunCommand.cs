using System.CommandLine;
using System.Globalization;
using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Scenarios.Native;

namespace Net.Zlink.Scenarios.Patterns.Running;

/// <summary>One measurement in this process, as a native program makes one: also for profilers.</summary>
internal static class PatternRunCommand
{
    public const string Name = "pattern-run";

    public static Option<int> Compile() => new Option<int>("--compile")
    {
        Description = "Milliseconds at most of floods and round trips before everything else, which end when the runtime has compiled "
            + "the code for good.",
        DefaultValueFactory = _ => (int)Compilation.DefaultLimit.TotalMilliseconds,
    }.AtLeast(0);

    public static Command Create()
    {
        Option<string> pattern = new Option<string>("--pattern") { Required = true }.Among(PatternNames.All);
        Option<string> transport = new Option<string>("--transport") { Required = true }.Among(PatternNames.Transports);
        Option<int> size = new Option<int>("--size") { Description = "Bytes of one message.", Required = true }.AtLeast(1);
        Option<int> clients = new Option<int>("--clients")
        {
            Description = "Clients to the one server.",
            DefaultValueFactory = _ => 1
        }.AtLeast(1);
        Option<string> stack = new Option<string>(
            "--stack")
        { Description = "Whose sockets.", DefaultValueFactory = _ => PatternStack.Managed }.Among(
            PatternStack.Managed, PatternStack.Batch, PatternStack.Native);
        Option<int?> count = new Option<int?>("--count")
        {
            Description =
            $"Messages measured; by default {PatternCounts.MessagesVariable}, or {PatternCounts.SmallMessages} up to "
            + $"{PatternCounts.SmallSize} bytes and {PatternCounts.LargeMessages} above.",
            DefaultValueFactory = _ => FromEnvironment(PatternCounts.MessagesVariable)
        }.AtLeast(1);
        Option<int> warmUp = new Option<int>("--warm-up")
        {
            Description =
            $"Messages before that, one at a time; by default {PatternCounts.WarmUpVariable}, or {PatternCounts.DefaultWarmUp}.",
            DefaultValueFactory = _ => FromEnvironment(PatternCounts.WarmUpVariable) ?? PatternCounts.DefaultWarmUp
        }.AtLeast(0);
        Option<int?> roundTrips = new Option<int?>(
            "--round-trips")
        {
            Description =
            $"Round trips measured; by default {PatternCounts.RoundTripsVariable}, or as many as the native program makes.",
            DefaultValueFactory = _ => FromEnvironment(PatternCounts.RoundTripsVariable)
        }.AtLeast(1);
        Option<int> compile = Compile();
        var command = new ExampleCommand(
            Name,
            "One measurement of one pattern in this process, with the output of the native comp_current programs. 'patterns' runs it.",
            $"dotnet run -c Release --project bench/Net.Zlink.Scenarios -- {Name} --pattern PAIR --transport tcp --size 64 --count "
                + $"5000000");
        foreach (Option option in new Option[] { pattern, transport, size, clients, stack, count, warmUp, roundTrips, compile })
        {
            command.Add(option);
        }

        command.SetAction(request => Run(
            new PatternCase(request.GetValue(pattern)!, request.GetValue(transport)!, request.GetValue(size), request.GetValue(clients)),
            new PatternCounts(request.GetValue(count), request.GetValue(count), request.GetValue(warmUp), request.GetValue(roundTrips)),
            request.GetValue(stack)!,
            request.GetValue(compile)));
        return command;
    }

    private static int Run(PatternCase what, PatternCounts counts, string stack, int compile)
    {
        if (stack is PatternStack.Native && NativeZlink.WhyNot() is { } why)
        {
            throw new RequestException($"The native library cannot be measured. {why}.");
        }

        var run = new PatternRun(what, counts, stack, compile, stack is PatternStack.Batch);
        try
        {
            if (stack is PatternStack.Native)
            {
                NativeProgram.Run(what, run);
            }
            else
            {
                ManagedProgram.Run(what, run, run.Batch);
            }

            return 0;
        }
        catch (NotInThisBuildException e)
        {
            Console.WriteLine(ResultLines.Unsupported + e.Message);
            return 0;
        }
        catch (Exception e)
        {
            // One line, which the runner's table can show; a trace would push it out.
            Console.Error.WriteLine(
                $"{e.GetType().Name}: {e.Message}{(e.InnerException is { } inner ? $" {inner.GetType().Name}: {inner.Message}" : "")}");
            return CommandLineProgram.Failed;
        }
    }

    private static int? FromEnvironment(string variable) =>
        int.TryParse(Environment.GetEnvironmentVariable(variable), NumberStyles.None, CultureInfo.InvariantCulture, out int value)
            && value > 0 ? value : null;
}
