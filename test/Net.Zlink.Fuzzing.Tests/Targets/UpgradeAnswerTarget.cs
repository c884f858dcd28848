using System.Text;
using Net.Zlink.Protocol.WebSocket;
using Xunit;

namespace Net.Zlink.Fuzzing;

/// <summary>What a server answers to this side's request for a WebSocket.</summary>
internal sealed class UpgradeAnswerTarget : FuzzTarget
{
    private const string Key = "dGhlIHNhbXBsZSBub25jZQ==";
    private static readonly string s_accept = WebSocketKey.AcceptFor(Key);
    private static readonly string[] s_offered = ["a", "b"];

    public override IEnumerable<byte[]> Seeds =>
    [
        UpgradeAnswer.Accept(Key), UpgradeAnswer.Accept(Key, "a"), UpgradeAnswer.Accept(Key, "c"),
        UpgradeAnswer.Refuse(404, "There is nothing"), UpgradeAnswer.Refuse(426, ""),
        [.. UpgradeAnswer.Accept(Key)[..^2], .. "Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n"u8],
    ];

    public override byte[][] Words =>
    [
        .. new[]
        {
            "\r\n", "\r\n\r\n", "HTTP/1.1 ", "101", "101 ", "Upgrade: websocket\r\n", "Connection: upgrade\r\n", ":", ",", " ", "\t",
            $"Sec-WebSocket-Accept: {s_accept}\r\n", "Sec-WebSocket-Protocol: b\r\n", "Sec-WebSocket-Extensions: x\r\n",
        }.Select(Utf8),
    ];

    protected override void Try(byte[] input)
    {
        int length = HttpHead.LengthOf(input);
        if (length == 0)
        {
            return;
        }

        byte[] head = input[..length];
        if (UpgradeAnswer.Classify(head, Key, s_offered, out string? subProtocol) is { } complaint)
        {
            Assert.InRange(complaint.Length, 20, 200); // It stands in events and logs.
            return;
        }

        string text = Encoding.Latin1.GetString(head);
        Assert.StartsWith("HTTP/1.1 101", text, StringComparison.Ordinal);
        Assert.Contains(s_accept, text, StringComparison.Ordinal);
        Assert.True(subProtocol is null || s_offered.Contains(subProtocol, StringComparer.Ordinal), subProtocol);
        for (int cut = 0; cut <= length; cut++)
        {
            Assert.True(HttpHead.MayBeAnswer(head.AsSpan(0, cut)), "an answer that is taken is refused while it comes");
        }
    }
}
