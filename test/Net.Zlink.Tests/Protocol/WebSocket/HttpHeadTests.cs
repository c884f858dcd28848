using System.Text;
using Net.Zlink.Protocol.WebSocket;
using Xunit;

namespace Net.Zlink.Tests.Protocol.WebSocket;

public sealed class HttpHeadTests
{
    [Theory]
    [InlineData("", 0)]
    [InlineData("GET / HTTP/1.1\r\n", 0)]
    [InlineData("GET / HTTP/1.1\r\n\r", 0)]
    [InlineData("GET / HTTP/1.1\r\n\r\n", 18)]
    [InlineData("GET / HTTP/1.1\r\n\r\nmore\r\n\r\n", 18)]
    [InlineData("GET / HTTP/1.1\n\n", 0)]
    [InlineData("\r\n\r\n", 4)]
    public void A_head_ends_with_its_empty_line(string text, int length) => Assert.Equal(length, HttpHead.LengthOf(Bytes(text)));

    [Theory]
    [InlineData("", true)]
    [InlineData("G", true)]
    [InlineData("GET", true)]
    [InlineData("GET ", true)]
    [InlineData("UPDATEREDIRECTREF /", true)]
    [InlineData("ABCDEFGHIJKLMNOPQRSTU", false)]
    [InlineData("ABCDEFGHIJKLMNOPQRSTU ", false)]
    [InlineData("get / HTTP/1.1", false)]
    [InlineData(" GET", false)]
    [InlineData("GET/", false)]
    [InlineData("\r\nGET", false)]
    [InlineData("\u0016\u0003\u0001", false)] // the beginning of TLS
    public void Bytes_that_cannot_become_a_request_are_known_early(string text, bool mayBe) =>
        Assert.Equal(mayBe, HttpHead.MayBeRequest(Bytes(text)));

    [Theory]
    [InlineData("", true)]
    [InlineData("HTT", true)]
    [InlineData("HTTP/1.", true)]
    [InlineData("HTTP/1.1 101", true)]
    [InlineData("HTTP/1.0 200 OK", true)]
    [InlineData("HTTP/2", false)]
    [InlineData("http/1.1", false)]
    [InlineData("SSH-2.0", false)]
    public void Bytes_that_cannot_become_an_answer_are_known_early(string text, bool mayBe) =>
        Assert.Equal(mayBe, HttpHead.MayBeAnswer(Bytes(text)));

    [Theory]
    [InlineData("A: b", true)]
    [InlineData("A:b", true)]
    [InlineData("A:", true)]
    [InlineData("A: b\tc", true)]
    [InlineData("A: caf\u00e9", true)] // any byte above 127 may stand in a value
    [InlineData("!#$%&'*+-.^_`|~09azAZ: b", true)]
    [InlineData("A : b", false)]
    [InlineData(" A: b", false)]
    [InlineData("A: b\r\n folded", false)]
    [InlineData("A: b\r\n\tfolded", false)]
    [InlineData("no colon", false)]
    [InlineData(": no name", false)]
    [InlineData("A: b\nB: c", false)]
    [InlineData("A: b\rB: c", false)]
    [InlineData("A: b\0", false)]
    [InlineData("A\0: b", false)]
    [InlineData("A: \u007f", false)]
    [InlineData("A(b): c", false)]
    public void Fields_are_judged_by_the_grammar(string fields, bool isWellFormed) =>
        Assert.Equal(isWellFormed, HttpHead.IsWellFormed(Bytes($"GET / HTTP/1.1\r\nX: y\r\n{fields}\r\n\r\n")));

    [Theory]
    [InlineData("GET /\0 HTTP/1.1")]
    [InlineData("GET /\n HTTP/1.1")]
    [InlineData("GET /\t HTTP/1.1")]
    [InlineData("GET /\u007f HTTP/1.1")]
    public void The_first_line_has_no_control_characters(string line) => Assert.False(HttpHead.IsWellFormed(Bytes($"{line}\r\n\r\n")));

    [Fact]
    public void A_field_is_found_in_any_letter_case_and_counted()
    {
        byte[] head = Bytes("GET / HTTP/1.1\r\nOne:  1 \t\r\nTWO: 2\r\none:3\r\nones: 4\r\n\r\n");
        Assert.Equal(2, HttpHead.Find(head, "oNE"u8, out ReadOnlySpan<byte> one));
        Assert.Equal("3", Encoding.ASCII.GetString(one));
        Assert.Equal(1, HttpHead.Find(head, "two"u8, out ReadOnlySpan<byte> two));
        Assert.Equal("2", Encoding.ASCII.GetString(two));
        Assert.Equal(0, HttpHead.Find(head, "three"u8, out ReadOnlySpan<byte> three));
        Assert.True(three.IsEmpty);
    }

    [Theory]
    [InlineData("Connection: upgrade", true)]
    [InlineData("Connection: keep-alive, Upgrade", true)]
    [InlineData("connection: UPGRADE ,close", true)]
    [InlineData("Connection: keep-alive\r\nConnection: upgrade", true)]
    [InlineData("Connection: ,\t, upgrade,", true)]
    [InlineData("Connection: upgraded", false)]
    [InlineData("Connection: up grade", false)]
    [InlineData("Connection:", false)]
    [InlineData("X: upgrade", false)]
    public void A_token_is_found_in_a_list(string fields, bool isListed) =>
        Assert.Equal(isListed, HttpHead.Lists(Bytes($"GET / HTTP/1.1\r\n{fields}\r\n\r\n"), "Connection", "upgrade"));

    private static byte[] Bytes(string text) => Encoding.Latin1.GetBytes(text);
}
