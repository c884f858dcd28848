using Net.Zlink.Conformance.Tests.Replay;
using Net.Zlink.Conformance.Tests.Replay.Driving;
using Net.Zlink.Conformance.Tests.Replay.Expecting;
using Net.Zlink.Conformance.Tests.Replay.Model;
using Net.Zlink.Conformance.Tests.Replay.Reading;
using Net.Zlink.Conformance.Tests.Sides;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Replayer;

/// <summary>Files whose visible advice nobody has decided on.</summary>
public sealed class UndecidedDifferenceTests
{
    [Theory]
    [InlineData("Plain", 0)]
    [InlineData("Plain", 1)]
    [InlineData("Severed", 1)]
    public async Task A_file_that_advises_an_unknown_difference_is_played_up_to_it_and_then_fails(string variant, int step)
    {
        Transcript file = WithDifference(Read("stream-basic"), step);
        var failure = await Assert.ThrowsAsync<ReplayFailedException>(() => PlayAsync(file, Enum.Parse<Variant>(variant)));
        Assert.Contains($"all is right up to step {step}", failure.Message, StringComparison.Ordinal);
        Assert.Contains("no row says what we do", failure.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_fault_ahead_of_an_undecided_difference_is_reported_instead_of_it()
    {
        Transcript right = Read("stream-basic");
        Transcript file = WithDifference(right with
        {
            Delivered =
            [right.Delivered[0] with { Parts = [[0, 0, 0, 1], [2]] }, .. right.Delivered.Skip(1)]
        }, 1);
        var failure = await Assert.ThrowsAsync<ReplayFailedException>(() => PlayAsync(file, Variant.Plain));
        Assert.Contains("part 1", failure.Message, StringComparison.Ordinal);
    }

    private static Transcript WithDifference(Transcript transcript, int step) =>
        ExpectationFile.Parse("""{"rows": []}""")
            .Apply(transcript with { Differences = [new Difference(step, "else", Should: true, Visible: true)] });

    private static Transcript Read(string file) =>
        TranscriptReader.ReadFile(Path.Combine(AppContext.BaseDirectory, "Transcripts", file + ".json")).Single();

    private static Task<int> PlayAsync(Transcript transcript, Variant variant) =>
        Folder.PlaySideAsync(transcript, transcript.Sides["b"], variant, SideTable.Adapters, ReplayOptions.DefaultGuard);
}
