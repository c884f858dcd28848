using Net.Zlink.Conformance.Tests.Replay;
using Net.Zlink.Conformance.Tests.Replay.Driving;
using Net.Zlink.Conformance.Tests.Replay.Model;
using Net.Zlink.Conformance.Tests.Replay.Reading;
using Net.Zlink.Conformance.Tests.Sides;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Replayer;

/// <summary>That nothing was delivered is found out, not waited for: files that are changed to expect a delivery a step later than it comes
/// fail, each of them.</summary>
public sealed class LateDeliveryTests
{
    public static TheoryData<string, int, int> Rows()
    {
        var rows = new TheoryData<string, int, int>();
        if (!Folder.IsOwn)
        {
            rows.Add("", 0, 0);
            return rows;
        }

        foreach (string file in Folder.Files())
        {
            foreach ((int conversation, Transcript transcript) in Read(file).Index())
            {
                foreach (int delivery in Enumerable.Range(0, transcript.Delivered.Count).Where(i => CanBeLater(transcript, i)))
                {
                    rows.Add(file, conversation, delivery);
                }
            }
        }

        return rows;
    }

    [Theory]
    [MemberData(nameof(Rows))]
    public async Task A_delivery_that_comes_a_step_before_the_file_says_fails(string file, int conversation, int delivery)
    {
        Assert.SkipUnless(Folder.IsOwn, "Another folder may hold anything.");
        Transcript transcript = Read(file).ElementAt(conversation);
        DeliveredMessage one = transcript.Delivered[delivery];
        Transcript changed = transcript with
        {
            Delivered =
            [.. transcript.Delivered.Select((message, i) => i == delivery ? one with { Step = one.Step + 1 } : message)]
        };
        ReplayFailedException failure = await Assert.ThrowsAsync<ReplayFailedException>(
            () => Folder.PlaySideAsync(changed, changed.Sides[one.At], Variant.Plain, SideTable.Adapters, ReplayOptions.DefaultGuard));
        Assert.Contains("was delivered, which the file does not show", failure.Message, StringComparison.Ordinal);
    }

    private static IEnumerable<Transcript> Read(string file) =>
        TranscriptReader.ReadFile(Folder.PathOf(file)).Select(Folder.Expectations().Apply);

    /// <summary>The side's last of a step, and the step is not the file's last.</summary>
    private static bool CanBeLater(Transcript transcript, int delivery)
    {
        DeliveredMessage one = transcript.Delivered[delivery];
        return one.Step + 1 < transcript.Steps.Count
            && !transcript.Delivered.Skip(delivery + 1)
            .Any(other => string.Equals(other.At, one.At, StringComparison.Ordinal) && other.Step == one.Step);
    }
}
