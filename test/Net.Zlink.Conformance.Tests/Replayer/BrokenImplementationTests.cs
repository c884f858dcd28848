using Net.Zlink.Conformance.Tests.Replay;
using Net.Zlink.Conformance.Tests.Replay.Driving;
using Net.Zlink.Conformance.Tests.Sides;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Replayer;

/// <summary>A replayer that can't fail is worth nothing: it passes a right implementation and fails each broken one.</summary>
public sealed class BrokenImplementationTests
{
    /// <summary>Short: what never comes is waited for this long in these tests, and nothing here fails for being slow.</summary>
    private static readonly TimeSpan Impatient = TimeSpan.FromSeconds(1);

    private static readonly string Own = Path.Combine(AppContext.BaseDirectory, "Transcripts");

    /// <summary>A variant of each file; all of them with <see cref="SlowTests"/>.</summary>
    public static TheoryData<string, string> Conversations()
    {
        var rows = new TheoryData<string, string>();
        IEnumerable<string> files = Directory.EnumerateFiles(Own, "stream-*.json").Concat(Directory.EnumerateFiles(Own, "ws-stream-*.json"))
            .Concat(Directory.EnumerateFiles(Own, "ws-upgrade-*.json"))
                .Where(path => !path.EndsWith("-zmp.json", StringComparison.Ordinal));
        Variant[] all = Enum.GetValues<Variant>();
        foreach ((int at, string path) in files.Order(StringComparer.Ordinal).Index())
        {
            foreach (Variant variant in SlowTests.AreOn ? all : [all[at % all.Length]])
            {
                rows.Add(Path.GetFileNameWithoutExtension(path), variant.ToString());
            }
        }

        return rows;
    }

    [Theory]
    [MemberData(nameof(Conversations))]
    public async Task A_right_implementation_passes(string file, string variant)
        => await PlayAsync(Fault.None, file, variant, ReplayOptions.DefaultGuard);

    [Theory]
    [InlineData(Fault.DropsAByte, "stream-basic", "Plain", "9 bytes are expected on connection 1")]
    [InlineData(Fault.SendsAByteMore, "stream-basic", "Plain", "sent something else")]
    [InlineData(Fault.SendsAByteMore, "stream-zero-length-tcp", "Merged", "sent something else")]
    [InlineData(Fault.SendsFramesTwice, "stream-app-errors", "Plain", "sent something else")]
    [InlineData(Fault.SpeaksOnConnect, "stream-oversized", "Plain", "sent something else")]
    [InlineData(Fault.SpeaksOnConnect, "stream-silent", "Plain", "sent something else")]
    [InlineData(Fault.SpeaksWhenTimePasses, "stream-silent", "Plain", "sent something else")]
    [InlineData(Fault.ClosesEarly, "stream-one-byte-payloads", "Plain", "closed connection 1 (Fin)")]
    [InlineData(Fault.ClosesWhenTimePasses, "stream-silent", "Plain", "closed connection 1 (Fin)")]
    [InlineData(Fault.IgnoresTheLimit, "stream-oversized", "Plain", "b has not closed connection 1")]
    [InlineData(Fault.IgnoresTheLimit, "stream-maxmsgsize-zero-tcp", "Merged", "b has not closed connection 1")]
    [InlineData(Fault.HasNoDefaultLimit, "stream-tcp-no-default-limit", "Plain", "b has not closed connection 1")]
    [InlineData(Fault.LeavesDisconnectedPeersOpen, "stream-app-disconnect", "Plain", "b has not closed connection 1")]
    [InlineData(Fault.TakesEachReadForOneFrame, "stream-split-merged", "Plain", "step 1")]
    [InlineData(Fault.TakesEachReadForOneFrame, "stream-basic", "Split", "step 1")]
    [InlineData(Fault.NeverReads, "stream-basic", "Plain", "was never delivered")]
    [InlineData(Fault.NeverReads, "stream-basic", "Split", "were never read")]
    [InlineData(Fault.LosesAMessage, "stream-basic", "Plain", "was never delivered")]
    [InlineData(Fault.DeliversTwice, "stream-basic", "Plain", "which the file does not show")]
    [InlineData(Fault.DeliversTwice, "stream-basic", "Severed", "delivered")]
    [InlineData(Fault.DeliversOutOfOrder, "stream-split-merged", "Merged", "part 1")]
    [InlineData(Fault.DeliversAnotherByte, "stream-basic", "Plain", "part 1")]
    [InlineData(Fault.DeliversOnePart, "stream-basic", "Plain", "1 parts instead of 2")]
    [InlineData(Fault.DeliversHalfMessagesOnLoss, "stream-basic", "Severed", "delivered")]
    [InlineData(Fault.ForgetsTheDisconnectEvent, "stream-basic", "Plain", "was never delivered")]
    [InlineData(Fault.ForgetsTheDisconnectEvent, "stream-one-byte-payloads", "Severed", "was never delivered")]
    [InlineData(Fault.TellsTheWrongKind, "stream-one-byte-payloads", "Plain", "told as connected instead of data")]
    [InlineData(Fault.SendsToAnyone, "stream-app-errors", "Plain", "send ended with success")]
    [InlineData(Fault.NamesAnotherError, "stream-app-errors", "Plain", "send ended with EAGAIN")]
    [InlineData(Fault.ReportsNoLoss, "stream-basic", "Plain", "events are expected by now")]
    [InlineData(Fault.ReportsNoLoss, "stream-zero-length-tcp", "Severed", "events are expected by now")]
    [InlineData(Fault.ReportsAnotherReason, "stream-oversized", "Plain", "events: expected")]
    [InlineData(Fault.ReportsAnotherReason, "stream-basic", "Severed", "events: expected")]
    [InlineData(Fault.ReportsTwice, "stream-silent", "Plain", "events: expected")]
    [InlineData(Fault.KeepsBuffers, "stream-silent", "Plain", "never came back")]
    [InlineData(Fault.KeepsBuffers, "stream-basic", "Severed", "never came back")]
    [InlineData(Fault.TakesBrokenFrames, "ws-stream-unmasked", "Plain", "by now")]
    [InlineData(Fault.TakesBrokenFrames, "ws-stream-rsv", "Severed", "delivered")]
    [InlineData(Fault.AnswersNoPing, "ws-stream-basic", "Split", "by now")]
    [InlineData(Fault.AnswersNoClose, "ws-stream-basic", "Merged", "by now")]
    [InlineData(Fault.DropsAByte, "ws-stream-app-empty", "Plain", "by now")]
    [InlineData(Fault.SpeaksOnConnect, "ws-stream-tcp-close", "Plain", "more than expected")]
    [InlineData(Fault.SpeaksOnConnect, "ws-stream-tcp-close", "Severed", "more than expected")]
    [InlineData(Fault.DeliversTwice, "ws-stream-basic", "Severed", "delivered")]
    [InlineData(Fault.DeliversHalfMessagesOnLoss, "ws-stream-default-limit", "Severed", "delivered")]
    [InlineData(Fault.ForgetsTheDisconnectEvent, "ws-stream-rsv", "Severed", "was never delivered")]
    [InlineData(Fault.ReportsNoLoss, "ws-upgrade-garbage", "Severed", "events are expected by now")]
    [InlineData(Fault.ReportsAnotherReason, "ws-upgrade-no-key", "Severed", "events: expected")]
    [InlineData(Fault.IsNeverIdle, "stream-silent", "Plain", "never became idle")]
    [InlineData(Fault.IsNeverDisposed, "stream-silent", "Plain", "could not be disposed of")]
    public async Task A_broken_one_fails(Fault fault, string file, string variant, string says)
    {
        var failure = await Assert.ThrowsAsync<ReplayFailedException>(() => PlayAsync(fault, file, variant, Impatient));
        Assert.Contains(says, failure.Message, StringComparison.Ordinal);
    }

    private static Task<int> PlayAsync(Fault fault, string file, string variant, TimeSpan guard)
    {
        var adapters = new Dictionary<string, SideAdapter>(StringComparer.Ordinal) { ["STREAM"] = FakeStream.Adapter(fault) };
        return Folder.PlayAsync(Path.Combine(Own, file + ".json"), Enum.Parse<Variant>(variant), Folder.Expectations(), adapters, guard);
    }
}
