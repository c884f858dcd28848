using Net.Zlink.Conformance.Tests.Replay;
using Net.Zlink.Conformance.Tests.Replay.Driving;
using Net.Zlink.Conformance.Tests.Sides;
using Xunit;

namespace Net.Zlink.Conformance.Tests;

/// <summary>Every transcript in the folder, in every variant, over real TCP sockets.</summary>
public sealed class TranscriptTests
{
    public static TheoryData<string, string> Rows()
    {
        var rows = new TheoryData<string, string>();
        foreach (string file in Folder.Files())
        {
            foreach (Variant variant in Enum.GetValues<Variant>().Where(variant => Folder.IsOfUse(file, variant)))
            {
                rows.Add(file, variant.ToString());
            }
        }

        return rows;
    }

    [Theory]
    [MemberData(nameof(Rows))]
    public async Task The_library_does_what_the_transcript_says(string file, string variant)
    {
        int runs = await Folder.PlayAsync(Folder.PathOf(file), Enum.Parse<Variant>(variant), Folder.Expectations(), SideTable.Adapters, ReplayOptions.DefaultGuard);
        Assert.NotEqual(0, runs);
        TestContext.Current.TestOutputHelper?.WriteLine($"{runs} runs");
    }

    [Fact]
    public void The_folder_holds_transcripts() => Assert.NotEmpty(Folder.Files());

    [Fact]
    public void Every_expectation_is_of_use()
    {
        Assert.SkipUnless(Folder.IsOwn, "Another folder need not hold the files that our expectations are about.");
        Assert.Empty(Folder.Expectations().Unused(Folder.Files()).Select(row => row.File));
    }
}
