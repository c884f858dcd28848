using Net.Zlink.Conformance.Tests.Replay;
using Net.Zlink.Conformance.Tests.Replay.Driving;
using Net.Zlink.Conformance.Tests.Replay.Expecting;
using Net.Zlink.Conformance.Tests.Replay.Model;
using Net.Zlink.Conformance.Tests.Replay.Reading;
using Net.Zlink.Conformance.Tests.Sides;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Replayer;

/// <summary>Files that are not in order, or ask for too much, fail with a sentence that says what is wrong.</summary>
public sealed class ReadingTests
{
    private const string Good = """
        {
         "name": "good", "description": "x", "timed": true, "span_ms": {"1": 50}, "steps": ["connect", "speak"],
         "a": {"type": "RAW", "role": "connect", "options": {}},
         "b": {"type": "STREAM", "role": "bind", "options": {"MAXMSGSIZE": 10}, "transport": "tcp"},
         "actions": [{"step": 0, "at": "b", "do": "monitor"}, {"step": 0, "at": "b", "do": "bind"}, {"step": 0, "at": "a", "do": "connect", "conn": 1}, {"step": 1, "at": "net", "do": "idle", "ms": 50}],
         "sent": [{"at": "b", "parts": ["00000001", {"repeat": "ab", "count": 3}], "step": 1}],
         "records": [{"from": "a", "segments": ["00000002", {"repeat": "61", "count": 2}], "step": 1, "segment": 1, "note": "n"}, {"from": "b", "hex": "00000003ababab", "step": 1, "random": [{"offset": 4, "length": 3, "what": "w"}]}],
         "delivered": [{"at": "b", "parts": ["00000001", "01"], "step": 0}, {"at": "b", "parts": ["00000001", {"segments": ["61", {"repeat": "61", "count": 1}]}], "step": 1}],
         "events": [{"at": "b", "event": "CONNECTION_READY", "value": 0, "rid": "", "step": 1}],
         "closed": [{"conn": 1, "by": null, "how": null}],
         "still_open_after_ms": 50
        }
        """;

    [Fact]
    public void A_file_in_order_is_read_with_all_that_it_says()
    {
        Transcript transcript = TranscriptReader.ReadText(Good, "good");
        Assert.Equal("000000026161", Convert.ToHexStringLower(transcript.Records[0].Bytes));
        Assert.Equal("ababab", Convert.ToHexStringLower(transcript.Sent[0].Parts[1]));
        Assert.Equal("6161", Convert.ToHexStringLower(transcript.Delivered[1].Parts[1]));
        Assert.Equal(new RandomField(0, 4, 3, null), Assert.Single(transcript.Records[1].Random));
        Assert.Equal(10, Assert.Single(transcript.Sides["b"].Options).Value.Number);
        Assert.Equal(50, transcript.Actions[^1].Milliseconds);
    }

    [Theory]
    [InlineData("\"name\": \"good\"", "\"name\": \"other\"", "its name is not the file's")]
    [InlineData("\"still_open_after_ms\"", "\"still_open\"", "unknown key still_open")]
    [InlineData("\"note\": \"n\"", "\"nota\": \"n\"", "unknown key nota")]
    [InlineData("\"do\": \"bind\"", "\"do\": \"bound\"", "unknown action bound")]
    [InlineData("\"do\": \"bind\"", "\"do\": \"bind\", \"ms\": 1", "unknown key ms")]
    [InlineData("\"do\": \"connect\", \"conn\": 1", "\"do\": \"connect\"", "missing key conn")]
    [InlineData("\"do\": \"connect\", \"conn\": 1", "\"do\": \"connect\", \"conn\": 2", "not numbered from 1")]
    [InlineData("MAXMSGSIZE", "MAXMSGSIZES", "unknown option MAXMSGSIZES")]
    [InlineData("\"MAXMSGSIZE\": 10", "\"MAXMSGSIZE\": \"10\"", "not an Int64")]
    [InlineData("\"role\": \"bind\"", "\"role\": \"connect\"", "b binds")]
    [InlineData("00000003ababab", "00000003ABABAB", "not lower-case hex")]
    [InlineData("00000003ababab", "00000003ababa", "not lower-case hex")]
    [InlineData("00000003ababab\", \"step\": 1, \"random\": [{\"offset\": 4, \"length\": 3, \"what\": \"w\"}]", "\", \"step\": 1",
        "no bytes")]
    [InlineData("\"offset\": 4", "\"offset\": 5", "outside of the bytes")]
    [InlineData("\"count\": 3", "\"count\": 0", "not a number >= 1")]
    [InlineData("\"from\": \"a\"", "\"from\": \"a2\"", "a2 is not at it")]
    [InlineData("\"segment\": 1", "\"segment\": 0", "not a number >= 1")]
    [InlineData("\"segment\": 1", "\"payload\": \"00\"", "key payload on tcp")]
    [InlineData("\"segment\": 1", "\"close\": \"fin\"", "one of hex, segments, close")]
    [InlineData("CONNECTION_READY", "CONNECTION_LOST", "unknown event CONNECTION_LOST")]
    [InlineData("\"by\": null, \"how\": null", "\"by\": \"b\", \"how\": \"fin\"", "closed says something else")]
    [InlineData("\"span_ms\": {\"1\": 50}", "\"span_ms\": {\"1\": 60}", "not the sum of the waits")]
    [InlineData("\"steps\": [\"connect\", \"speak\"]", "\"steps\": [\"connect\"]", "a step outside of steps")]
    [InlineData("\"steps\": [\"connect\", \"speak\"]", "\"steps\": [\"connect\", \"speak\", \"nothing\"]", "nothing happens in step 2")]
    [InlineData("\"step\": 1, \"segment\": 1", "\"step\": 0, \"conn\": 2", "not open")]
    [InlineData("\"rid\": \"\"", "\"rid\": \"\", \"rid\": \"00\"", "key rid twice")]
    [InlineData("{\"step\": 0, \"at\": \"b\", \"do\": \"monitor\"}, ", "", "events and a monitor action go together")]
    public void A_file_not_in_order_is_refused(string what, string by, string says)
    {
        Assert.Contains(what, Good, StringComparison.Ordinal);
        var refusal = Assert.Throws<TranscriptFormatException>(
            () => TranscriptReader.ReadText(Good.Replace(what, by, StringComparison.Ordinal), "good"));
        Assert.Contains(says, refusal.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("\"transport\": \"tcp\"", "\"transport\": \"tls\"", "not supported yet: transport tls")]
    [InlineData("\"do\": \"bind\"", "\"do\": \"unbind\"", "not supported yet: action unbind")]
    public void A_transcript_with_an_unknown_feature_is_refused_by_its_name(string what, string by, string says)
    {
        var refusal = Assert.Throws<NotSupportedYetException>(
            () => TranscriptReader.ReadText(Good.Replace(what, by, StringComparison.Ordinal), "good"));
        Assert.StartsWith(says, refusal.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("\"type\": \"STREAM\"", "\"type\": \"CARRIER\"", "not supported yet: socket type CARRIER (side b of good)")]
    [InlineData("\"MAXMSGSIZE\": 10", "\"XPUB_MANUAL\": 1", "not supported yet: option XPUB_MANUAL on STREAM")]
    [InlineData("{\"step\": 0, \"at\": \"b\", \"do\": \"bind\"}",
        "{\"step\": 0, \"at\": \"b\", \"do\": \"bind\"}, {\"step\": 0, \"at\": \"b\", \"do\": \"subscribe\", \"topic\": \"61\"}",
        "not supported yet: subscribe on STREAM")]
    public async Task A_transcript_step_that_no_adapter_supports_is_refused_by_its_name(string what, string by, string says)
    {
        Transcript transcript = TranscriptReader.ReadText(Good.Replace(what, by, StringComparison.Ordinal), "good");
        var refusal = await Assert.ThrowsAsync<NotSupportedYetException>(
            () => Folder.PlaySideAsync(transcript, transcript.Sides["b"], Variant.Plain, SideTable.Adapters, ReplayOptions.DefaultGuard));
        Assert.StartsWith(says, refusal.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_compatibility_matrix_is_one_conversation_per_row()
    {
        const string Matrix = """
            {"name": "m", "description": "x", "results": [
              {"native": "PAIR", "hello_type": 0, "name": "PAIR", "ready": true},
              {"native": "PAIR", "hello_type": 1, "name": "PUB", "ready": false, "answer": "5a0102000000000205ff", "note": "n", "closed": "fin"}]}
            """;
        string path = Path.Combine(Directory.CreateTempSubdirectory().FullName, "m.json");
        File.WriteAllText(path, Matrix);
        IReadOnlyList<Transcript> rows = TranscriptReader.ReadFile(path);
        Directory.Delete(Path.GetDirectoryName(path)!, recursive: true);
        Assert.Equal(2, rows.Count);
        Assert.Equal("5a01020000000007010004524157315a0102000000000104", Convert.ToHexStringLower(rows[0].Records[0].Bytes));
        Assert.Equal("5a0102000000000501000242315a0102000000000104", Convert.ToHexStringLower(rows[0].Records[1].Bytes));
        Assert.Equal("CONNECTION_READY", Assert.Single(rows[0].Events!).Name);
        Assert.EndsWith("5a0102000000000205ff", Convert.ToHexStringLower(rows[1].Records[1].Bytes), StringComparison.Ordinal);
        Assert.Equal(CloseKind.Fin, rows[1].Records[2].Close);
    }

    [Theory]
    [InlineData("""[{"file": "good", "step": 1, "what": "w", "why": "y", "ref": "docs/protocol.md, 5", "delivered": [{"at": "b", "parts": ["00000001", "6161"], "step": 1}]}]""", "changes nothing")]
    [InlineData("""[{"file": "good", "step": 1, "what": "w", "why": "y", "ref": "docs/protocol.md, 5", "delivered": [{"at": "b", "parts": ["00"], "step": 7}]}]""", "a step outside of steps")]
    [InlineData("""[{"file": "good", "step": 1, "what": "w", "why": "", "ref": "docs/protocol.md, 5"}]""", "needs a why")]
    [InlineData("""[{"file": "good", "step": 1, "what": "w", "why": "y", "ref": "elsewhere"}]""", "a ref into docs/protocol.md")]
    [InlineData("""[{"file": "good", "step": 1, "what": "w", "why": "y", "ref": "docs/protocol.md", "deliveries": []}]""", "unknown key deliveries")]
    public void An_expectation_that_says_too_little_is_refused(string rows, string says)
    {
        const string Differs = """ "differs": [{"step": 1, "what": "else", "advice": "should", "ref": "r"}], "still_open_after_ms" """;
        Transcript transcript = TranscriptReader.ReadText(
            Good.Replace("\"still_open_after_ms\"", Differs, StringComparison.Ordinal), "good");
        var refusal = Assert.Throws<TranscriptFormatException>(() => ExpectationFile.Parse($$"""{"rows": {{rows}}}""").Apply(transcript));
        Assert.Contains(says, refusal.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("[]", true)]
    [InlineData("""[{"file": "good", "step": 0, "what": "w", "why": "y", "ref": "docs/protocol.md, 5", "delivered": [{"at": "b", "parts": ["00000001", "02"], "step": 0}]}]""", true)]
    [InlineData("""[{"file": "good", "step": 1, "what": "w", "why": "y", "ref": "docs/protocol.md, 5", "delivered": []}]""", false)]
    public void A_difference_that_is_advised_is_undecided_until_a_row_for_its_step_says_what_we_do(string rows, bool isUndecided)
    {
        const string Differs = """ "differs": [{"step": 1, "what": "else", "advice": "should", "ref": "r"}], "still_open_after_ms" """;
        Transcript transcript = TranscriptReader.ReadText(
            Good.Replace("\"still_open_after_ms\"", Differs, StringComparison.Ordinal), "good");
        Assert.Equal(isUndecided ? 1 : null, ExpectationFile.Parse($$"""{"rows": {{rows}}}""").Apply(transcript).Undecided?.Step);
    }

    [Fact]
    public void A_row_for_a_file_that_is_not_there_is_unused()
    {
        ExpectationFile file = ExpectationFile.Parse("""{"rows": [{"file": "good", "step": 1, "what": "w", "why": "y", "ref": "docs/protocol.md"}]}""");
        Assert.Empty(file.Unused(["good"]));
        Assert.Single(file.Unused(["other"]));
    }
}
