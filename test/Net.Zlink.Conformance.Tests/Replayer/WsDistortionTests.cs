using Net.Zlink.Conformance.Tests.Replay;
using Net.Zlink.Conformance.Tests.Replay.Driving;
using Net.Zlink.Conformance.Tests.Replay.Model;
using Net.Zlink.Conformance.Tests.Replay.Reading;
using Net.Zlink.Conformance.Tests.Sides;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Replayer;

/// <summary>Recordings of ws that are changed on their way out: what is the implementation's own affair passes, and each thing that is
/// wrong fails.</summary>
public sealed class WsDistortionTests
{
    private static readonly TimeSpan Impatient = TimeSpan.FromSeconds(1);

    [Theory]
    [InlineData(WsDistortion.OtherMasks, "ws-client-upgrade")]
    [InlineData(WsDistortion.OtherMasks, "ws-native-pair-pair")]
    [InlineData(WsDistortion.FragmentsEveryMessage, "ws-client-upgrade")]
    [InlineData(WsDistortion.FragmentsEveryMessage, "ws-stream-basic")]
    [InlineData(WsDistortion.FragmentsEveryMessage, "ws-native-pair-pair")]
    [InlineData(WsDistortion.JoinsMessages, "ws-native-pair-pair")]
    [InlineData(WsDistortion.OtherHeaderOrder, "ws-client-root-path")]
    [InlineData(WsDistortion.OtherHeaderOrder, "ws-upgrade-bad-version")]
    [InlineData(WsDistortion.CapitalHeaderNames, "ws-client-root-path")]
    [InlineData(WsDistortion.CapitalHeaderNames, "ws-native-sub-pub")]
    [InlineData(WsDistortion.MoreHeaders, "ws-native-sub-pub")]
    public async Task A_WebSocket_recording_with_a_permitted_change_passes(WsDistortion distortion, string file) =>
        await PlayAsync(distortion, file, ReplayOptions.DefaultGuard);

    [Theory]
    [InlineData(WsDistortion.AnotherAccept, "ws-stream-basic", "header sec-websocket-accept: expected s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")]
    [InlineData(WsDistortion.AnotherAccept, "ws-native-pair-pair", "header sec-websocket-accept")]
    [InlineData(WsDistortion.NoUpgradeHeader, "ws-stream-basic", "header upgrade: expected websocket, got none")]
    [InlineData(WsDistortion.NoUpgradeHeader, "ws-client-upgrade", "header upgrade: expected websocket, got none")]
    [InlineData(WsDistortion.AnotherStatus, "ws-path-ignored", "expected   101, got   2101")]
    [InlineData(WsDistortion.AnotherStatus, "ws-upgrade-bad-version", "expected   426, got   2426")]
    [InlineData(WsDistortion.AnotherStatus, "ws-upgrade-no-key", "expected   400, got   2400")]
    [InlineData(WsDistortion.ShortKey, "ws-client-upgrade", "header sec-websocket-key: expected base64 of 16 bytes")]
    [InlineData(WsDistortion.AnotherHost, "ws-client-upgrade", "header host: expected 127.0.0.1:")]
    [InlineData(WsDistortion.AnotherPath, "ws-client-upgrade", "expected GET /zlink , got GET /xzlink")]
    [InlineData(WsDistortion.NotHttp, "ws-upgrade-plain-get", "a head that is no HTTP")]
    [InlineData(WsDistortion.WrongMasking, "ws-stream-basic", "a masked frame")]
    [InlineData(WsDistortion.WrongMasking, "ws-client-upgrade", "a frame without a mask")]
    [InlineData(WsDistortion.ReservedBit, "ws-stream-app-batch", "a reserved bit")]
    [InlineData(WsDistortion.UnknownOpcode, "ws-stream-app-batch", "the opcode 7")]
    [InlineData(WsDistortion.Text, "ws-stream-app-batch", "a text message")]
    [InlineData(WsDistortion.EmptyMessage, "ws-stream-app-batch", "a data frame without data")]
    [InlineData(WsDistortion.PaddedLength, "ws-client-root-path", "a length in more bytes than it needs")]
    [InlineData(WsDistortion.FragmentedControl, "ws-stream-basic", "a fragmented control frame")]
    [InlineData(WsDistortion.AnotherControlPayload, "ws-stream-basic", "expected Pong 7070, got Pong 7071")]
    [InlineData(WsDistortion.AnotherControlPayload, "ws-stream-rsv", "expected Close 03ea, got Close 03eb")]
    [InlineData(WsDistortion.NoControl, "ws-stream-basic", "heads, payload bytes and control frames are expected")]
    [InlineData(WsDistortion.NoControl, "ws-stream-unmasked", "heads, payload bytes and control frames are expected")]
    [InlineData(WsDistortion.ControlTwice, "ws-client-upgrade", "Pong 7070 more than expected")]
    [InlineData(WsDistortion.AnotherByte, "ws-native-sub-pub", "expected data of 22 bytes")]
    [InlineData(WsDistortion.AByteLess, "ws-stream-app-empty", "are expected on connection 1 by now")]
    [InlineData(WsDistortion.AByteMore, "ws-stream-app-empty", "got data of 5 bytes")]
    [InlineData(WsDistortion.HalfAFrameMore, "ws-stream-app-empty", "1 bytes of a frame that never became whole")]
    public async Task A_WebSocket_recording_with_a_forbidden_change_fails_and_says_which(WsDistortion distortion, string file, string says)
    {
        TimeSpan guard = Impatient;
        ReplayFailedException failure;
        do
        {
            // What is missing shows when the time for it is over, which on a busy machine an earlier step may need, too.
            failure = await Assert.ThrowsAsync<ReplayFailedException>(() => PlayAsync(distortion, file, guard));
            guard *= 4;
        }
        while (guard < 4 * ReplayOptions.DefaultGuard && !failure.Message.Contains(says, StringComparison.Ordinal));

        Assert.Contains(says, failure.Message, StringComparison.Ordinal);
    }

    private static async Task PlayAsync(WsDistortion distortion, string file, TimeSpan guard)
    {
        Transcript transcript = TranscriptReader.ReadFile(Path.Combine(AppContext.BaseDirectory, "Transcripts", file + ".json")).Single();
        foreach (Side side in transcript.Sides.Values.Where(side => !side.IsRaw))
        {
            var adapters = new Dictionary<string, SideAdapter>(StringComparer.Ordinal)
            {
                [side.Type] = new(request => new RecordedSide(
                    transcript, side.Name, request, change: (record, bytes) => WsDistortions.Apply(distortion, record, bytes)),
                    new NoOracle()),
            };
            await Folder.PlaySideAsync(transcript, side, Variant.Plain, adapters, guard);
        }
    }
}
