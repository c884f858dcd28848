using Net.Zlink.Conformance.Tests.Replay;
using Net.Zlink.Conformance.Tests.Replay.Driving;
using Net.Zlink.Conformance.Tests.Sides;
using Xunit;

namespace Net.Zlink.Conformance.Tests;

/// <summary>Every transcript in the folder, whole, split and merged: over wires in memory, and those of ws over tcp.</summary>
public sealed class TranscriptTests
{
    public static TheoryData<string, string> Rows() =>
        Of(Enum.GetValues<Variant>().Where(static variant => variant is not Variant.Severed));

    [Theory]
    [MemberData(nameof(Rows))]
    public Task The_library_does_what_the_transcript_says(string file, string variant) => PlayAsync(file, Enum.Parse<Variant>(variant));

    [Fact]
    public void The_folder_holds_transcripts() => Assert.NotEmpty(Folder.Files());

    [Fact]
    public void Every_expectation_is_of_use()
    {
        Assert.SkipUnless(Folder.IsOwn, "Another folder need not hold the files that our expectations are about.");
        Assert.Empty(Folder.Expectations().Unused(Folder.Files()).Select(row => row.File));
    }

    internal static TheoryData<string, string> Of(params IEnumerable<Variant> variants)
    {
        var rows = new TheoryData<string, string>();
        foreach (string file in Folder.Files())
        {
            foreach (Variant variant in variants.Where(variant => Folder.IsOfUse(file, variant)))
            {
                rows.Add(file, variant.ToString());
            }
        }

        return rows;
    }

    internal static async Task PlayAsync(string file, Variant variant, IReadOnlyDictionary<string, SideAdapter>? adapters = null)
    {
        int runs = await Folder.PlayAsync(Folder.PathOf(file), variant, Folder.Expectations(), adapters ?? SideTable.Adapters,
            ReplayOptions.DefaultGuard);
        Assert.NotEqual(0, runs);
        TestContext.Current.TestOutputHelper?.WriteLine($"{runs} runs");
    }
}
