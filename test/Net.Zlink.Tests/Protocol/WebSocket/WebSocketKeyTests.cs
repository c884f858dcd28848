using Net.Zlink.Protocol.WebSocket;
using Xunit;

namespace Net.Zlink.Tests.Protocol.WebSocket;

public sealed class WebSocketKeyTests
{
    [Fact]
    public void The_key_of_the_RFC_gives_the_answer_of_the_RFC() =>
        Assert.Equal("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", WebSocketKey.AcceptFor("dGhlIHNhbXBsZSBub25jZQ==")); // RFC 6455, 1.3

    [Fact]
    public void A_new_key_is_valid_and_unlike_the_last()
    {
        string one = WebSocketKey.Create();
        string other = WebSocketKey.Create();
        Assert.True(WebSocketKey.IsValid(one));
        Assert.Equal(WebSocketKey.Length, one.Length);
        Assert.NotEqual(one, other, StringComparer.Ordinal);
    }

    [Theory]
    [InlineData("dGhlIHNhbXBsZSBub25jZQ==", true)]
    [InlineData("AAAAAAAAAAAAAAAAAAAAAA==", true)]
    [InlineData("", false)]
    [InlineData("dGhlIHNhbXBsZSBub25jZQ", false)]
    [InlineData("dGhlIHNhbXBsZSBub25jZQ=", false)]
    [InlineData("dGhlIHNhbXBsZSBub25jZTE=", false)] // 17 bytes
    [InlineData("dGhlIHNhbXBsZSBub25jZTEy", false)] // 18 bytes
    [InlineData("dGhlIHNhbXBsZSBub25j", false)] // 15 bytes
    [InlineData("dGhlIHNhbXBsZSBub25jZ*==", false)]
    [InlineData("dGhl IHNhbXBsZSBub25jZ==", false)]
    [InlineData("========================", false)]
    public void A_key_is_16_bytes_in_base64(string key, bool isValid) =>
        Assert.Equal(isValid, WebSocketKey.IsValid(key));
}
