using Net.Zlink.Conformance.Tests.Replay.Driving;
using Xunit;

namespace Net.Zlink.Conformance.Tests;

/// <summary>
/// Every transcript in the folder, cut behind every eighth byte that a played side sends, or with
/// <see cref="Net.Zlink.Tests.Support.SlowTests"/> behind every third.
/// </summary>
public sealed class SeveredTranscriptTests
{
    public static TheoryData<string, string> Rows() => TranscriptTests.Of([Variant.Severed]);

    [Theory(SkipTestWithoutData = true)]
    [MemberData(nameof(Rows))]
    public Task The_library_does_what_the_transcript_says(string file, string variant) =>
        TranscriptTests.PlayAsync(file, Enum.Parse<Variant>(variant));
}
