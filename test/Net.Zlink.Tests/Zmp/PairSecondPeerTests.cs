using System.Text;
using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>The one place of a PAIR.</summary>
public sealed class PairSecondPeerTests
{
    [Theory]
    [InlineData("tcp://127.0.0.1:0")]
    [InlineData("inproc://place")]
    public async Task A_PAIR_accepts_the_next_peer_when_all_messages_of_the_last_are_received_and_not_before(string endpoint)
    {
        await using var fixture = new ContextFixture();
        PairSocket pair = fixture.Context.CreatePair();
        string bound = pair.Bind(endpoint);
        PairSocket first = fixture.Context.CreatePair();
        first.Connect(bound);
        first.Send("1"u8);
        first.Send("2"u8);
        await fixture.UntilAsync(() => pair.GetStatistics().UnreadMessages == 2);
        first.Dispose();
        await fixture.UntilAsync(() => pair.PeerCount == 0);
        using EventReader monitor = pair.ReadEvents(SocketEventTypes.ConnectionRefused);
        foreach (string expected in new[] { "1", "2" })
        {
            PairSocket early = fixture.Context.CreatePair();
            early.Connect(bound);
            Assert.Contains("are unread", (await monitor.ReadAsync(Guard.Token).Guarded()).Detail, StringComparison.Ordinal);
            early.Dispose();
            Assert.Equal(expected, await ReceiveAsync(pair));
        }

        PairSocket next = fixture.Context.CreatePair();
        next.Connect(bound);
        next.Send("3"u8);
        Assert.Equal("3", await ReceiveAsync(pair));
    }

    private static async Task<string> ReceiveAsync(PairSocket pair)
    {
        using Message message = await pair.ReceiveAsync(Guard.Token).Guarded();
        return Encoding.ASCII.GetString(message.Span);
    }
}
