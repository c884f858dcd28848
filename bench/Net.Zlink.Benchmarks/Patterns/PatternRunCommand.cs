using System.CommandLine;
using System.Globalization;
using Net.Zlink.Benchmarks.Common;

namespace Net.Zlink.Benchmarks.Patterns;

/// <summary>One measurement in this process, as a native program makes one: also for profilers.</summary>
internal static class PatternRunCommand
{
    public const string Name = "pattern-run";
    public const string BatchApi = "batch";
    public const string SingleApi = "single";

    public static Option<string> Api => Choice(
        new Option<string>("--api") { Description = "Receive one message a call, or many (ReceiveMany). The sender sends one a call.", DefaultValueFactory = _ => SingleApi }, SingleApi, BatchApi);

    /// <summary>The runtime recompiles what is called often, twice, each time a tenth of a second after the last new method at the earliest, and on a thread of its own.</summary>
    public static Option<int> Compile => new Option<int>("--compile")
    {
        Description = "Milliseconds of floods and round trips that ours makes before everything else, so that the runtime has compiled the code for good.",
        DefaultValueFactory = _ => 1_500,
    }.AtLeast(0);

    public static Command Create()
    {
        Option<string> pattern = Choice(new Option<string>("--pattern") { Required = true }, PatternNames.All);
        Option<string> transport = Choice(new Option<string>("--transport") { Required = true }, PatternNames.Transports);
        Option<int> size = new Option<int>("--size") { Description = "Bytes of one message.", Required = true }.AtLeast(1);
        var messages = new Option<int?>("--messages") { Description = $"Messages measured; by default {PatternCounts.MessagesVariable}, or {PatternCounts.SmallMessages} up to {PatternCounts.SmallSize} bytes and {PatternCounts.LargeMessages} above.", DefaultValueFactory = _ => FromEnvironment(PatternCounts.MessagesVariable) };
        Option<int> warmUp = new Option<int>("--warm-up") { Description = $"Messages before that, one at a time; by default {PatternCounts.WarmUpVariable}, or {PatternCounts.DefaultWarmUp}.", DefaultValueFactory = _ => FromEnvironment(PatternCounts.WarmUpVariable) ?? PatternCounts.DefaultWarmUp }.AtLeast(0);
        var roundTrips = new Option<int?>("--round-trips") { Description = $"Round trips measured; by default {PatternCounts.RoundTripsVariable}, or as many as the native program makes.", DefaultValueFactory = _ => FromEnvironment(PatternCounts.RoundTripsVariable) };
        Option<int> compile = Compile;
        Option<string> api = Api;
        var command = new ExampleCommand(
            Name,
            "One measurement of one pattern in this process, with the output of the native comp_current programs. 'patterns' runs it.",
            $"dotnet run -c Release --project bench/Net.Zlink.Benchmarks -- {Name} --pattern PAIR --transport tcp --size 64 --messages 5000000");
        foreach (Option option in new Option[] { pattern, transport, size, messages, warmUp, roundTrips, compile, api })
        {
            command.Add(option);
        }

        command.SetAction(request =>
        {
            var what = new PatternCase(request.GetValue(pattern)!, request.GetValue(transport)!, request.GetValue(size));
            var counts = new PatternCounts(request.GetValue(messages), request.GetValue(warmUp), request.GetValue(roundTrips));
            new PatternProgram(what, counts, request.GetValue(compile), string.Equals(request.GetValue(api), BatchApi, StringComparison.Ordinal)).Run();
            return 0;
        });
        return command;
    }

    private static Option<string> Choice(Option<string> option, params string[] values)
    {
        option.AcceptOnlyFromAmong(values);
        return option;
    }

    private static int? FromEnvironment(string variable) =>
        int.TryParse(Environment.GetEnvironmentVariable(variable), NumberStyles.None, CultureInfo.InvariantCulture, out int value) && value > 0 ? value : null;
}
