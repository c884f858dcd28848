using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>A socket of whose peers none has room tells so whoever asks before he sends.</summary>
public sealed class FullSocketTests
{
    private const string Name = "inproc://full";

    [Theory]
    [InlineData("PAIR")]
    [InlineData("DEALER")]
    [InlineData("ROUTER")]
    public async Task A_full_socket_is_writable_again_when_a_peer_has_received_and_not_before(string type)
    {
        await using var fixture = new ContextFixture();
        (ZmpSocket sender, Func<bool> trySend, ReceivingSocket receiver) = Meet(fixture.Context, type);
        using var poller = new SocketPoller();
        poller.Add(sender, PollEvents.Out);
        var ready = new PollResult[1];
        Assert.True(sender.CanSend);
        Assert.True(trySend());
        Assert.True(trySend()); // The two sockets' marks add up. No send was refused yet, by which it would know.
        Assert.False(sender.CanSend);
        Assert.Equal(0, poller.Poll(ready, TimeSpan.Zero));
        Assert.False(trySend());
        while (receiver.TryReceive(out Message message))
        {
            message.Dispose();
        }

        Assert.True(sender.CanSend);
        Assert.Equal(1, poller.Poll(ready, TimeSpan.Zero));
        Assert.True(trySend());
    }

    private static (ZmpSocket Sender, Func<bool> TrySend, ReceivingSocket Receiver) Meet(ZlinkContext context, string type)
    {
        DuplexSocket receiver = type is "PAIR"
            ? context.CreatePair(new PairOptions { ReceiveHighWaterMark = 1 })
            : context.CreateDealer(new DealerOptions { ReceiveHighWaterMark = 1, RoutingId = "id"u8.ToArray() });
        if (type is "ROUTER")
        {
            RouterSocket router = context.CreateRouter(new RouterOptions { SendHighWaterMark = 1, Mandatory = true });
            router.Bind(Name);
            receiver.Connect(Name);
            return (router, () => router.To("id"u8).TrySend("x"u8), receiver);
        }

        DuplexSocket sender = type is "PAIR"
            ? context.CreatePair(new PairOptions { SendHighWaterMark = 1 })
            : context.CreateDealer(new DealerOptions { SendHighWaterMark = 1 });
        sender.Bind(Name);
        receiver.Connect(Name);
        return (sender, () => sender.TrySend("x"u8), receiver);
    }
}
