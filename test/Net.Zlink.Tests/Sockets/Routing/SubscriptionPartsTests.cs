using Net.Zlink.Sockets.Routing;
using Xunit;
using static Net.Zlink.Tests.Sockets.Routing.RoutingFixture;

namespace Net.Zlink.Tests.Sockets.Routing;

public sealed class SubscriptionPartsTests
{
    private SubscriptionParts _parts;

    [Theory]
    [InlineData("\u0001topic", "Subscribe", "topic")]
    [InlineData("\u0001", "Subscribe", "")]
    [InlineData("\0topic", "Cancel", "topic")]
    [InlineData("\0", "Cancel", "")]
    [InlineData("", "Data", "")]
    [InlineData("\u0002A\0", "Data", "")]
    [InlineData("topic", "Data", "")]
    public void A_part_is_a_subscription_by_its_first_byte(string body, string kind, string prefix)
    {
        foreach (bool onlyFirst in (bool[])[false, true])
        {
            Assert.Equal(Enum.Parse<UpstreamPart>(kind),
                _parts.Next(Bytes(body), more: false, onlyFirst, out ReadOnlySpan<byte> found));
            Assert.Equal(prefix, Text(found));
        }
    }

    [Theory]
    [InlineData(false, "x 1a 0a", "D S C")]
    [InlineData(false, "1a x 0a", "S D C")]
    [InlineData(true, "x 1a 0a", "D D D")]
    [InlineData(true, "1a x 0a", "S D C")]
    [InlineData(true, "ABC 0a", "D D")]
    [InlineData(true, "1a 1a", "S S")]
    [InlineData(true, "0a 0a", "C C")]
    public void With_only_first_a_message_that_begins_with_data_is_data_to_its_end(bool onlyFirst, string message, string kinds)
    {
        for (int repeat = 0; repeat < 2; repeat++) // The message behind it starts anew.
        {
            string[] parts = message.Split(' ');
            List<char> found = [];
            for (int i = 0; i < parts.Length; i++)
            {
                byte[] body = Bytes(parts[i].Replace('1', '\u0001').Replace('0', '\0'));
                found.Add(_parts.Next(body, more: i < parts.Length - 1, onlyFirst, out _).ToString()[0]);
            }

            Assert.Equal(kinds, string.Join(' ', found));
        }
    }

    [Fact]
    public void After_a_reset_the_next_part_is_a_first_one()
    {
        _parts.Next(Bytes("x"), more: true, onlyFirst: true, out _);
        Assert.Equal(UpstreamPart.Data, _parts.Next([1], more: true, onlyFirst: true, out _));
        _parts.Reset();
        Assert.Equal(UpstreamPart.Subscribe, _parts.Next([1], more: true, onlyFirst: true, out _));
    }
}
