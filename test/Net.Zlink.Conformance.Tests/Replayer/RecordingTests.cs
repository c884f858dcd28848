using Net.Zlink.Conformance.Tests.Replay;
using Net.Zlink.Conformance.Tests.Replay.Driving;
using Net.Zlink.Conformance.Tests.Replay.Model;
using Net.Zlink.Conformance.Tests.Replay.Reading;
using Net.Zlink.Conformance.Tests.Sides;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Replayer;

/// <summary>Every file of the folder, played against a side that knows it by heart: the replayer can play it to its end, whatever its
/// socket types. One variant of every sixth file; all of them with ZLINK_SLOW_TESTS=1.</summary>
public sealed class RecordingTests
{
    public static TheoryData<string, string> Rows()
    {
        var rows = new TheoryData<string, string>();
        Variant[] all = [Variant.Plain, Variant.Split, Variant.Merged];
        foreach ((int at, string file) in SlowTests.Some(Folder.Files(), every: 6).Index())
        {
            foreach (Variant variant in SlowTests.AreOn ? all : [all[at % all.Length]])
            {
                rows.Add(file, variant.ToString());
            }
        }

        return rows;
    }

    [Theory]
    [MemberData(nameof(Rows))]
    public async Task A_recording_passes_its_own_replay(string file, string variant)
    {
        foreach (Transcript transcript in TranscriptReader.ReadFile(Folder.PathOf(file)))
        {
            foreach (Side side in transcript.Sides.Values.Where(side => !side.IsRaw))
            {
                var adapters = new Dictionary<string, SideAdapter>(StringComparer.Ordinal)
                {
                    [side.Type] = new(request => new RecordedSide(transcript, side.Name, request), new NoOracle(),
                        SpeaksFirst: side.Type is not "STREAM"),
                };
                Assert.Equal(1, await Folder.PlaySideAsync(
                    transcript, side, Enum.Parse<Variant>(variant), adapters, ReplayOptions.DefaultGuard));
            }
        }
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Frames_that_timers_send_must_keep_the_recorded_intervals(bool isHurried)
    {
        Transcript transcript = TranscriptReader.ReadText(Periodic, "periodic");
        var adapters = new Dictionary<string, SideAdapter>(StringComparer.Ordinal)
        {
            ["STREAM"] = new(request => new RecordedSide(transcript, "b", request, isHurried), new NoOracle()),
        };
        Task<int> replay = Folder.PlaySideAsync(transcript, transcript.Sides["b"], Variant.Plain, adapters, ReplayOptions.DefaultGuard);
        if (!isHurried)
        {
            Assert.Equal(1, await replay);
            return;
        }

        var failure = await Assert.ThrowsAsync<ReplayFailedException>(() => replay);
        Assert.Contains("0 ms behind the one before; in the file it is 201 ms", failure.Message, StringComparison.Ordinal);
    }

    private const string Periodic = """
        {
         "name": "periodic", "description": "b sends by a timer of 200 ms, and a answers each.", "timed": true, "span_ms": {"0": 700}, "steps": ["connect"],
         "a": {"type": "RAW", "role": "connect", "options": {}}, "b": {"type": "STREAM", "role": "bind", "options": {}, "transport": "tcp"},
         "actions": [{"step": 0, "at": "b", "do": "bind"}, {"step": 0, "at": "a", "do": "connect", "conn": 1}, {"step": 0, "at": "net", "do": "idle", "ms": 700}],
         "sent": [], "delivered": [], "closed": [{"conn": 1, "by": null, "how": null}],
         "records": [{"from": "b", "hex": "00", "step": 0, "at_ms": 0}, {"from": "b", "hex": "01", "step": 0, "at_ms": 201}, {"from": "a", "hex": "a1", "step": 0, "at_ms": 201}, {"from": "b", "hex": "02", "step": 0, "at_ms": 400}, {"from": "a", "hex": "a2", "step": 0, "at_ms": 400}, {"from": "b", "hex": "03", "step": 0, "at_ms": 601}]
        }
        """;
}
