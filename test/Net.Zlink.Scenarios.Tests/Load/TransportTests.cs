using Net.Zlink.Scenarios.Load;
using Net.Zlink.Scenarios.Servers;
using Net.Zlink.Scenarios.Tests.Support;
using Xunit;

namespace Net.Zlink.Scenarios.Tests.Load;

/// <summary>Every stack that is here answers every message, over every transport that it has.</summary>
public sealed class TransportTests
{
    [Theory]
    [InlineData("net-zlink", "tcp")]
    [InlineData("net-zlink", "tls")]
    [InlineData("net-zlink", "ws")]
    [InlineData("net-zlink", "wss")]
    [InlineData("net-zlink-pull", "tcp")]
    [InlineData("net-zlink-pull", "wss")]
    [InlineData("dotnet", "tcp")]
    [InlineData("dotnet", "tls")]
    [InlineData("dotnet", "ws")]
    [InlineData("dotnet", "wss")]
    [InlineData("kestrel", "tcp")]
    [InlineData("kestrel", "tls")]
    [InlineData("kestrel", "ws")]
    [InlineData("kestrel", "wss")]
    [InlineData("native", "tcp")]
    [InlineData("native", "tls")]
    [InlineData("native", "ws")]
    [InlineData("native", "wss")]
    public async Task A_stack_passes(string stack, string transport)
    {
        Assert.SkipWhen(Stacks.WhyNot(stack) is not null, Stacks.WhyNot(stack) ?? "");
        await using IEchoServer server = await Stacks.StartAsync(
            stack, new ServerSettings($"{transport}://127.0.0.1:0{(transport is "ws" or "wss" ? "/" : "")}", Backlog: 100,
            HighWaterMark: 1000, Shards: 2));
        LoadReport report = await Runs.LoadAsync(
            server.Endpoint, Runs.Short with { Connections = 20, InFlight = 10, Size = 1000, Transport = transport });
        Assert.True(report.Row.Passed, report.Row.ToResultLine() + " " + report.Row.ErrorsByErrno);
        Assert.True(report.Row.Recv > 20, report.Row.ToResultLine());
    }

    [Theory]
    [InlineData("net-zlink", 21, 1)]
    [InlineData("dotnet", 21, 1)]
    [InlineData("dotnet", 1_000_000, 8)]
    [InlineData("kestrel", 1_000_000, 8)]
    [InlineData("net-zlink", 1_000_000, 8)]
    [InlineData("net-zlink-pull", 300_000, 30)]
    public async Task The_smallest_and_very_long_messages_come_back_whole(string stack, int size, int inFlight)
    {
        await using IEchoServer server = await Stacks.StartAsync(
            stack, new ServerSettings("tcp://127.0.0.1:0", Backlog: 100, HighWaterMark: 1000, Shards: 2));
        LoadReport report = await Runs.LoadAsync(
            server.Endpoint, Runs.Short with { Size = size, InFlight = inFlight, SendBatch = 4, LatencySampleRate = 1 });
        Assert.True(report.Row.Passed, report.Row.ToResultLine());
    }

    [Fact]
    public async Task Progress_names_every_phase_in_order()
    {
        var phases = new List<LoadPhase>();
        await using var server = new FaultyServer(Fault.None);
        await Runs.LoadAsync(server.Endpoint, Runs.Short, progress =>
        {
            if (progress.IsPhaseStart)
            {
                phases.Add(progress.Phase);
            }
        });
        Assert.Equal([LoadPhase.Warmup, LoadPhase.Measure, LoadPhase.Drain, LoadPhase.Done], phases);
    }
}
