using Net.Zlink.Conformance.Tests.Replay.Driving;
using Xunit;

namespace Net.Zlink.Conformance.Tests;

/// <summary>Every transcript in the folder, cut once behind every byte that a played side sends. Beside <see cref="TranscriptTests"/>, since 22,000 runs take as long as all other rows together.</summary>
public sealed class SeveredTranscriptTests
{
    public static TheoryData<string, string> Rows() => TranscriptTests.Of([Variant.Severed]);

    [Theory(SkipTestWithoutData = true)]
    [MemberData(nameof(Rows))]
    public Task The_library_does_what_the_transcript_says(string file, string variant) => TranscriptTests.PlayAsync(file, Enum.Parse<Variant>(variant));
}
