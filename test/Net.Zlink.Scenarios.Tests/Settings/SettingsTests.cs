using System.CommandLine;
using Net.Zlink.Scenarios.Settings;
using Xunit;

namespace Net.Zlink.Scenarios.Tests.Settings;

public sealed class SettingsTests
{
    [Fact]
    public void The_fixed_profile_is_fixed()
    {
        ScenarioSettings settings = Parse(Scenario.S2);
        Assert.Equal(new ScenarioSettings
        {
            Scenario = Scenario.S2,
            Transport = "tcp",
            Connections = 10_000,
            Size = 1024,
            InFlight = 30,
            WarmupSeconds = 3,
            MeasureSeconds = 10,
            DrainTimeoutSeconds = 10,
            ConnectConcurrency = 256,
            ConnectTimeoutSeconds = 10,
            Backlog = 32_768,
            HighWaterMark = 1_000_000,
            Shards = 2,
            SendBatch = 30,
            LatencySampleRate = 16,
            InlineCompletions = false,
        }, settings);
        Assert.Equal(5, Profiles.RoundsOf(Profiles.Fixed));
    }

    [Fact]
    public void S0_is_one_connection_with_one_in_flight_and_s1_sends_nothing()
    {
        ScenarioSettings s0 = Parse(Scenario.S0);
        Assert.Equal((1, 1, 1024), (s0.Connections, s0.InFlight, s0.Size));
        ScenarioSettings s1 = Parse(Scenario.S1);
        Assert.Equal((10_000, 0), (s1.Connections, s1.InFlight));
    }

    [Fact]
    public void Every_setting_can_be_given_and_reaches_the_client()
    {
        var settings = new ScenarioSettings
        {
            Scenario = Scenario.S2,
            Transport = "wss",
            Connections = 11,
            Size = 222,
            InFlight = 33,
            WarmupSeconds = 0.25,
            MeasureSeconds = 1.5,
            DrainTimeoutSeconds = 2.5,
            ConnectConcurrency = 44,
            ConnectTimeoutSeconds = 3.5,
            Backlog = 55,
            HighWaterMark = 66,
            Shards = 7,
            SendBatch = 8,
            LatencySampleRate = 9,
            InlineCompletions = true,
        };
        Assert.Equal(settings, Parse(Scenario.S2, [.. SettingsOptions.ToArguments(settings)]));
    }

    [Theory]
    [InlineData("--size", "20")]
    [InlineData("--ccu", "0")]
    [InlineData("--transport", "udp")]
    [InlineData("--profile", "slow")]
    [InlineData("--size", "8388609")]
    [InlineData("--measure", "-1")]
    [InlineData("--measure", "0")]
    [InlineData("--measure", "NaN")]
    [InlineData("--connect-timeout", "0")]
    [InlineData("--shards", "1025")]
    public void Nonsense_is_refused(string option, string value)
    {
        var command = new RootCommand();
        new SettingsOptions().AddTo(command);
        Assert.NotEmpty(command.Parse([option, value]).Errors);
    }

    private static ScenarioSettings Parse(Scenario scenario, params string[] arguments)
    {
        var command = new RootCommand();
        var options = new SettingsOptions();
        options.AddTo(command);
        ParseResult request = command.Parse(arguments);
        Assert.Empty(request.Errors);
        return options.Read(request, scenario, serverProcessors: 2);
    }
}
