using Net.Zlink.Conformance.Tests.Replay;
using Net.Zlink.Conformance.Tests.Replay.Driving;
using Net.Zlink.Conformance.Tests.Replay.Expecting;
using Net.Zlink.Conformance.Tests.Sides;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Replayer;

/// <summary>Hand-made conversations for what no STREAM transcript has: scripted listeners, reconnects, cuts, two and three native sides,
/// values that differ, records by the clock.</summary>
public sealed class ConversationTests
{
    private static readonly TimeSpan Impatient = TimeSpan.FromSeconds(1);

    public static TheoryData<string, string> Rows()
    {
        var rows = new TheoryData<string, string>();
        foreach (string file in new[] { "listener", "two-sides", "three-sides", "by-clock" })
        {
            foreach (Variant variant in Enum.GetValues<Variant>())
            {
                rows.Add(file, variant.ToString());
            }
        }

        return rows;
    }

    [Theory]
    [MemberData(nameof(Rows))]
    public async Task A_right_implementation_passes(string file, string variant)
        => Assert.NotEqual(0, await PlayAsync(FakeStream.Adapter(Fault.None), file, variant, ReplayOptions.DefaultGuard));

    [Theory]
    [MemberData(nameof(Rows))]
    public async Task The_library_passes(string file, string variant)
        => Assert.NotEqual(0, await PlayAsync(SideTable.Adapters["STREAM"], file, variant, ReplayOptions.DefaultGuard));

    [Theory]
    [InlineData(nameof(Variant.Plain))]
    [InlineData(nameof(Variant.Split))]
    [InlineData(nameof(Variant.Merged))]
    [InlineData(nameof(Variant.Severed))]
    public async Task The_library_passes_over_ws_and_connects(string variant)
        => Assert.NotEqual(0, await PlayAsync(SideTable.Adapters["STREAM"], "ws-two-sides", variant, ReplayOptions.DefaultGuard));

    [Theory]
    [InlineData(Fault.ConnectsTwice, "listener", "listener, side a")]
    [InlineData(Fault.NeverReconnects, "listener", "connection 2 never came")]
    [InlineData(Fault.NeverReconnects, "by-clock", "connection 2 never came")]
    [InlineData(Fault.ReportsNoLoss, "listener", "events are expected by now")]
    [InlineData(Fault.SendsAByteMore, "two-sides", "sent something else")]
    [InlineData(Fault.DeliversAnotherByte, "two-sides", "part 1")]
    [InlineData(Fault.ClosesEarly, "two-sides", "closed connection 1")]
    [InlineData(Fault.DeliversOutOfOrder, "three-sides", "step 3")]
    [InlineData(Fault.SpeaksWhenTimePasses, "by-clock", "sent something else")]
    [InlineData(Fault.ClosesWhenTimePasses, "by-clock", "step 1")]
    public async Task A_broken_one_fails(Fault fault, string file, string says)
    {
        var failure = await Assert.ThrowsAsync<ReplayFailedException>(
            () => PlayAsync(FakeStream.Adapter(fault), file, nameof(Variant.Plain), Impatient));
        Assert.Contains(says, failure.Message, StringComparison.Ordinal);
    }

    private static Task<int> PlayAsync(SideAdapter adapter, string file, string variant, TimeSpan guard)
    {
        string path = Path.Combine(AppContext.BaseDirectory, "Replayer", "Conversations", file + ".json");
        var adapters = new Dictionary<string, SideAdapter>(StringComparer.Ordinal) { ["STREAM"] = adapter };
        return Folder.PlayAsync(path, Enum.Parse<Variant>(variant), ExpectationFile.Parse("""{"rows": []}"""), adapters, guard);
    }
}
