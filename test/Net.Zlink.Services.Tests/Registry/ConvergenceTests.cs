using System.Globalization;
using Net.Zlink.Services.Tests.Clusters;
using Xunit;

namespace Net.Zlink.Services.Tests;

/// <summary>Registries in a full mesh: whatever was cut, restarted, registered and removed, in the end all list what is registered, and
/// nothing else. The slow tests play more runs.</summary>
public sealed class ConvergenceTests
{
    private static readonly int Runs = Faults.Rounds(8, more: 100, byHand: 2_000);

    [Theory]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(5)]
    public void Registries_with_latency_agree_on_the_union_of_what_is_registered(int nodes) =>
        Play(nodes, natives: 0, cuts: false, restarts: false);

    [Theory]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(5)]
    public void Registries_behind_cuts_agree_on_the_union_of_what_is_registered(int nodes) =>
        Play(nodes, natives: 0, cuts: true, restarts: false);

    [Theory]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(5)]
    public void Registries_behind_cuts_and_restarts_agree_on_the_union_of_what_is_registered(int nodes) =>
        Play(nodes, natives: 0, cuts: true, restarts: true);

    [Theory]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(5)]
    public void A_cluster_with_one_native_registry_agrees_on_the_union_of_what_is_registered(int nodes) =>
        Play(nodes, natives: 1, cuts: false, restarts: false);

    [Fact]
    public void The_native_rules_alone_leave_ghosts_or_losses_so_the_model_can_tell()
    {
        int failed = Enumerable.Range(0, 50).Count(static seed =>
        {
            var cluster = new Cluster(seed, nodes: 3, natives: 3);
            cluster.Disturb(60, cuts: false, restarts: false);
            return Record.Exception(() => cluster.AssertConverges("native")) is not null;
        });
        Assert.NotEqual(0, failed);
    }

    private static void Play(int nodes, int natives, bool cuts, bool restarts)
    {
        int first = Environment.GetEnvironmentVariable("ZLINK_SEED") is { Length: > 0 } text
            ? int.Parse(text, CultureInfo.InvariantCulture) : Random.Shared.Next();
        TestContext.Current.TestOutputHelper?.WriteLine(string.Create(CultureInfo.InvariantCulture, $"seed {first}, {Runs} runs"));
        for (int run = 0; run < Runs; run++)
        {
            int seed = unchecked(first + run);
            var cluster = new Cluster(seed, nodes, natives);
            cluster.Disturb(40, cuts, restarts);
            cluster.AssertConverges(string.Create(CultureInfo.InvariantCulture, $"ZLINK_SEED={seed}"));
        }
    }
}
