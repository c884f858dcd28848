using System.Text;
using FsCheck;
using FsCheck.Fluent;
using Net.Zlink.Protocol.WebSocket;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Protocol.WebSocket;

/// <summary>The request and the answer of the upgrade, each as the other side judges it; what becomes of others, good and bad, is in
/// Transports/WebSocket.</summary>
public sealed class UpgradeMessagesTests
{
    private const string Key = "dGhlIHNhbXBsZSBub25jZQ==";
    private const string Good =
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: "
        + "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n";

    [Fact]
    public void The_request_has_the_native_form_and_is_accepted()
    {
        byte[] request = UpgradeRequest.Write("[::1]:5555", "/a?b=c", Key);
        Assert.Equal(
            $"GET /a?b=c HTTP/1.1\r\nHost: [::1]:5555\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: "
                + $"{Key}\r\nSec-WebSocket-Version: 13\r\n\r\n",
            Encoding.ASCII.GetString(request));
        var parsed = UpgradeRequest.Parse(request);
        Assert.Equal(new UpgradeRequest(0, "", Key, "/a", "?b=c", null), parsed);
    }

    [Fact]
    public void The_answer_has_the_native_form_and_is_accepted()
    {
        byte[] answer = UpgradeAnswer.Accept(Key);
        Assert.Equal(Good + "\r\n", Encoding.ASCII.GetString(answer));
        Assert.Null(Judge(Encoding.ASCII.GetString(answer)));
    }

    [Theory]
    [InlineData(400, "")]
    [InlineData(426, "Sec-WebSocket-Version: 13\r\n")]
    public void A_refusal_says_its_sentence_in_its_first_line_and_in_its_body(int status, string version)
    {
        string answer = Encoding.ASCII.GetString(UpgradeAnswer.Refuse(status, "Because"));
        Assert.Equal($"HTTP/1.1 {status} Because\r\n{version}Connection: close\r\nContent-Type: text/plain\r\nContent-Length: "
            + $"7\r\n\r\nBecause", answer);
        Assert.Equal($"the server refused the upgrade: {status} Because",
            Judge(answer[..(answer.IndexOf("\r\n\r\n", StringComparison.Ordinal) + 4)]));
    }

    [Fact]
    public void No_bytes_make_the_parsers_throw()
    {
        // Pieces that heads are made of, in any order, so that most cases get beyond the first line.
        Gen<byte[]> piece = Gen.Frequency(
            (4, Gen.Elements(
                "GET / HTTP/1.1\r\n", "HTTP/1.1 101 x\r\n", "GET ", " HTTP/1.1", "Host: a\r\n", "Upgrade: websocket\r\n",
                    "Connection: Upgrade\r\n", $"Sec-WebSocket-Key: {Key}\r\n",
                "Sec-WebSocket-Version: 13\r\n", "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n", "Origin: http://a\r\n",
                    "Content-Length: 0\r\n", "?", ":", ",", " ", "\r\n", "\r\n\r\n", "\r", "\n")
                .Select(Encoding.ASCII.GetBytes)),
            (1, Gen.Choose(0, 255).Select(static b => (byte)b).ArrayOf()));
        ForAll(piece.ArrayOf().Select(static pieces => (byte[])[.. pieces.SelectMany(static p => p)]), 5_000, static bytes =>
        {
            HttpHead.MayBeRequest(bytes);
            HttpHead.MayBeAnswer(bytes);
            WebSocketKey.IsValid(Encoding.Latin1.GetString(bytes));
            int length = HttpHead.LengthOf(bytes);
            Assert.InRange(length, 0, bytes.Length);
            if (length > 0)
            {
                var request = UpgradeRequest.Parse(bytes.AsSpan(0, length));
                Assert.True(request.Refusal is 0 or 400 or 426);
                Assert.Equal(request.Refusal == 0, request.Reason.Length == 0);
                UpgradeAnswer.Classify(bytes.AsSpan(0, length), Key, [], out _);
            }
        });
    }

    private static string? Judge(string head) =>
        UpgradeAnswer.Classify(Encoding.ASCII.GetBytes(head), Key, [], out _);
}
