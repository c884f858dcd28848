using Net.Zlink.Conformance.Tests.Replay;
using Net.Zlink.Conformance.Tests.Replay.Driving;
using Net.Zlink.Conformance.Tests.Sides;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests;

/// <summary>Transcripts with the kernel between the two ends: a few, or all of them, severed ones included, with
/// <see cref="SlowTests"/>.</summary>
public sealed class TcpTranscriptTests
{
    private const int Every = 12;

    public static TheoryData<string, string> Rows()
    {
        var rows = new TheoryData<string, string>();
        Variant[] variants = Enum.GetValues<Variant>();
        foreach ((int at, string file) in Folder.Files().Index().Where(static row => SlowTests.AreOn || row.Index % Every == 0))
        {
            foreach (Variant variant in SlowTests.AreOn ? variants : [variants[at / Every % 3]])
            {
                if (Folder.IsOfUse(file, variant))
                {
                    rows.Add(file, variant.ToString());
                }
            }
        }

        return rows;
    }

    [Theory]
    [MemberData(nameof(Rows))]
    public Task The_library_does_over_tcp_what_the_transcript_says(string file, string variant) =>
        TranscriptTests.PlayAsync(file, Enum.Parse<Variant>(variant), SideTable.OverTcp);
}
