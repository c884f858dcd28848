using System.Text;
using Net.Zlink.Protocol.WebSocket;
using Xunit;

namespace Net.Zlink.Fuzzing;

/// <summary>What a client asks of a WebSocket server: HTTP.</summary>
internal sealed class UpgradeRequestTarget : FuzzTarget
{
    private const string Key = "dGhlIHNhbXBsZSBub25jZQ==";

    public override IEnumerable<byte[]> Seeds =>
    [
        UpgradeRequest.Write("localhost:80", "/", Key),
        UpgradeRequest.Write("localhost", "/chat?room=1", Key, "Origin: http://localhost\r\nSec-WebSocket-Protocol: a, b\r\n"),
        Utf8($"GET http://h/p?q HTTP/1.1\r\nhost:h\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nContent-Length: 0\r\n"
            + $"Sec-WebSocket-Key: {Key}\r\nSec-WebSocket-Version: 8\r\nX: \r\n\r\nrest"),
        Utf8("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n folded\r\n\r\n"),
    ];

    public override byte[][] Words =>
    [
        .. new[]
        {
            "\r\n", "\r\n\r\n", "GET ", " HTTP/1.1\r\n", "https://h?", "http://", "/", "?", ":", ",", "\t", "Host: ", "Origin: o\r\n",
            "Content-Length: 1\r\n", "Content-Length: 0\r\n", "Transfer-Encoding: x\r\n", "Connection: upgrade\r\n",
            "Upgrade: websocket\r\n", "Sec-WebSocket-Version: 13\r\n", $"Sec-WebSocket-Key: {Key}\r\n", "Sec-WebSocket-Protocol: a\r\n",
        }.Select(Utf8),
    ];

    protected override void Try(byte[] input)
    {
        int length = HttpHead.LengthOf(input);
        for (int cut = 0; cut <= input.Length; cut += 1 + (input.Length / 100))
        {
            Assert.Equal(cut >= length ? length : 0, HttpHead.LengthOf(input.AsSpan(0, cut)));
        }

        if (length == 0)
        {
            return;
        }

        byte[] head = input[..length];
        var request = UpgradeRequest.Parse(head);
        if (request.Refusal != 0)
        {
            CheckAnswer(UpgradeAnswer.Refuse(request.Refusal, request.Reason), isAccepted: false);
            return;
        }

        Assert.True(HttpHead.IsWellFormed(head));
        for (int cut = 0; cut <= length; cut += 1 + (length / 100))
        {
            Assert.True(HttpHead.MayBeRequest(head.AsSpan(0, cut)), "a request that is accepted is refused while it comes");
        }

        string fields = request.Origin is null ? "" : $"Origin: {request.Origin}\r\n";
        byte[] written = UpgradeRequest.Write("host", request.Path + request.Query, request.Key, fields);
        Assert.Equal(request, UpgradeRequest.Parse(written));
        var kept = new UpgradeHead(head);
        Assert.Equal((request.Path, request.Query, request.Origin), (kept.Path, kept.Query, kept.Origin));
        CheckAnswer(UpgradeAnswer.Accept(request.Key, kept.Header("Sec-WebSocket-Key") is null ? null : "chosen"),
            isAccepted: true);

        void CheckAnswer(byte[] answer, bool isAccepted)
        {
            int headLength = HttpHead.LengthOf(answer);
            string? complaint = UpgradeAnswer.Classify(
                answer.AsSpan(0, headLength), request.Key, ["chosen"], out string? subProtocol);
            Assert.Equal((isAccepted, isAccepted ? "chosen" : null), (complaint is null, subProtocol));
            string? announced = HttpHead.Values(answer.AsSpan(0, headLength), "Content-Length");
            Assert.Equal(isAccepted ? null : Encoding.ASCII.GetString(answer)[headLength..].Length.ToString(), announced);
        }
    }
}
