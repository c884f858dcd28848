using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Recorded;

/// <summary>
/// What sockets do in scenarios that need no kernel, compared as text with a recording: events, the order of messages, counters. A change
/// that should change nothing leaves it as it is. With ZLINK_RECORD=1 the recording is written anew: read its difference.
/// </summary>
public sealed class RecordedScenariosTests
{
    private const string Variable = "ZLINK_RECORD";
    private const string Title = "== ";

    private static readonly string s_file = Path.Combine(Repository.Root, "test/Net.Zlink.Tests/Recorded/scenarios.txt");

    private static bool IsRecording => Environment.GetEnvironmentVariable(Variable) is "1";

    public static TheoryData<string> Names() => [.. Scenarios.All.Keys];

    [Theory]
    [MemberData(nameof(Names))]
    public async Task A_scenario_goes_as_it_was_recorded(string name)
    {
        Assert.SkipWhen(IsRecording, "It is being recorded.");
        Assert.Equal(Recorded().GetValueOrDefault(name, "").Split('\n'), (await PlayAsync(name)).Split('\n'));
    }

    [Fact]
    public async Task The_recording_has_the_scenarios_and_no_others()
    {
        if (IsRecording)
        {
            var texts = new List<string>();
            foreach (string name in Scenarios.All.Keys)
            {
                texts.Add($"{Title}{name}\n{await PlayAsync(name)}");
            }

            await File.WriteAllTextAsync(s_file, string.Join('\n', texts), Guard.Token);
        }

        Assert.Equal(Scenarios.All.Keys, Recorded().Keys, StringComparer.Ordinal);
    }

    private static async Task<string> PlayAsync(string name)
    {
        await using var log = new ScenarioLog();
        Scenarios.All[name](log);
        return log.End();
    }

    private static Dictionary<string, string> Recorded()
    {
        var scenarios = new Dictionary<string, string>(StringComparer.Ordinal);
        foreach (string scenario in File.ReadAllText(s_file).ReplaceLineEndings("\n").Split(Title).Skip(1))
        {
            int end = scenario.IndexOf('\n', StringComparison.Ordinal);
            scenarios.Add(scenario[..end], scenario[(end + 1)..].TrimEnd('\n') + "\n");
        }

        return scenarios;
    }
}
