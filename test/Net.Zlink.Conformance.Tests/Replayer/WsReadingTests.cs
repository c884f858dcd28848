using Net.Zlink.Conformance.Tests.Replay.Forms;
using Net.Zlink.Conformance.Tests.Replay.Model;
using Net.Zlink.Conformance.Tests.Replay.Severing;
using Net.Zlink.Conformance.Tests.Replay.WebSocket;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Replayer;

/// <summary>What came on a ws connection, in any segmentation; where control frames stand among the data; and what of a cut conversation
/// reaches the protocol above.</summary>
public sealed class WsReadingTests
{
    private static readonly byte[] Answer = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n"u8.ToArray();
    private static readonly byte[] Ping = WsFrame.Write(WsOpcode.Ping, [7]);

    [Fact]
    public void Bytes_one_by_one_make_the_same_items_as_all_at_once()
    {
        byte[] bytes = [.. Answer, .. Data(1, 2), .. Ping, .. Data(3)];
        var whole = new WsReading(isMasked: false);
        whole.Take(bytes);
        var single = new WsReading(isMasked: false);
        foreach (byte one in bytes)
        {
            single.Take([one]);
        }

        Assert.Equal(WsComparison.Show(whole.Items), WsComparison.Show(single.Items));
        Assert.Equal(whole.Items.Select(item => item.End), single.Items.Select(item => item.End));
        Assert.Equal((5, 0, null), (whole.Units, whole.Unfinished, whole.Fault));
        Assert.Equal(bytes.Length, whole.Items[^1].End);
    }

    [Fact]
    public void Bytes_behind_a_refused_upgrade_are_not_read_as_frames()
    {
        var reading = new WsReading(isMasked: false);
        reading.Take("HTTP/1.1 404 Not Found\r\n\r\nno such page"u8);
        Assert.Equal((1, 0, null), (reading.Units, reading.Unfinished, reading.Fault));
    }

    [Fact]
    public void A_control_frame_keeps_its_place_among_the_data()
    {
        WireRecord record = new("b", 0, 1)
        {
            Bytes = [.. Data(1, 2), .. Ping, .. Data(3, 4)],
            Payload = [1, 2, 3, 4],
            Control = [new ControlFrame("ping", [7])]
        };
        Assert.Null(Difference(record, [.. Data(1), .. Data(2), .. Ping, .. Data(3, 4)]));
        Assert.NotNull(Difference(record, [.. Data(1), .. Ping, .. Data(2, 3, 4)]));
        Assert.NotNull(Difference(record, [.. Data(1, 2, 3, 4), .. Ping]));
        Assert.NotNull(Difference(record, [.. Data(1, 2), .. Ping, .. Data(3)]));
        Assert.Null(Difference(record, [.. Data(1, 2), .. Ping, .. Data(3)], isWhole: false));
        Assert.NotNull(Difference(record, [.. Data(1), .. Ping], isWhole: false));
    }

    [Theory]
    [InlineData(0, "", false)]
    [InlineData(55, "", false)]
    [InlineData(56, "", true)]
    [InlineData(59, "", true)]
    [InlineData(60, "0102", true)]
    [InlineData(65, "0102", true)]
    [InlineData(66, "010203", true)]
    [InlineData(71, "010203", true)]
    public void Of_a_cut_conversation_whole_frames_reach_the_protocol_above(int cut, string payload, bool isUp)
    {
        byte[] all = [.. Answer, .. Data(1, 2), .. Ping, .. Data(3), .. WsFrame.Write(WsOpcode.Close, []), .. Data(4)];
        Assert.Equal((56, 71), (Answer.Length, all.Length));
        var sides = new Dictionary<string, Side>(StringComparer.Ordinal)
        {
            ["a"] = new("a", "STREAM", SideRole.Connect, [], Side.Ws, null),
            ["b"] = new("b", Side.RawType, SideRole.Bind, [], null, null),
        };
        var transcript = new Transcript("cut", ["all"], sides)
        {
            Actions = [new TranscriptAction(0, "a", ActionKind.Connect) { Connection = 1 }],
            Records = [new WireRecord("b", 0, 1) { Bytes = all,
                Http = new RecordedHead(Answer.Length, null, null, 101, new Dictionary<string, string>(StringComparer.Ordinal)),
                Payload = [1, 2, 3, 4] }],
        };
        Severance unwrapped = WsUnwrapping.Of(new Severance(transcript, "a", 0, 1, [new PlayedBytes(1, 0, all[..cut])]));
        Assert.Equal(payload, string.Concat(unwrapped.Played.Select(bytes => Convert.ToHexStringLower(bytes.Bytes))));
        Assert.Equal(isUp, !unwrapped.NeverUp.Contains(1));
        Assert.Equal([1, 2, 3, 4], Assert.Single(unwrapped.Transcript.Records).Bytes);
    }

    private static byte[] Data(params byte[] payload) => WsFrame.Write(WsOpcode.Binary, payload);

    private static string? Difference(WireRecord record, byte[] frames, bool isWhole = true)
    {
        var reading = new WsReading(isMasked: false);
        reading.Take([.. Answer, .. frames]);
        return WsComparison.Difference(WsComparison.Expected([record]), [.. reading.Items.Skip(1)], new WsContext(1, null), isWhole);
    }
}
