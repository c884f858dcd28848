using System.Buffers.Binary;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Tests.Protocol.Zmp;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>An endpoint that the application has let go of delivers what was accepted, over this connection, the next, and before anything
/// that is connected anew.</summary>
public sealed class LingeringConnecterTests
{
    // More than all buffers of the system hold between two sockets.
    private const int Messages = 3_000;
    private const int Length = 10_000;

    [Theory]
    [InlineData("dispose", true)]
    [InlineData("dispose", false)]
    [InlineData("disconnect", true)]
    [InlineData("disconnect", false)]
    public async Task Messages_of_a_disconnected_endpoint_whose_connection_breaks_leave_by_the_next_whole_and_in_order(
        string how, bool isReset)
    {
        await using var fixture = new ContextFixture();
        RawListener listener = fixture.Listen();
        DealerSocket dealer = fixture.Context.CreateDealer(
            new DealerOptions { ReconnectInterval = TimeSpan.FromMilliseconds(1), SendHighWaterMark = null });
        dealer.Connect(listener.Endpoint);
        RawPeer first = fixture.Own(await listener.AcceptAsync());
        await first.SendAsync(ZmpFixture.Greeting((byte)ZmpSocketType.Router));
        byte[] body = new byte[Length];
        for (int i = 0; i < Messages; i++)
        {
            BinaryPrimitives.WriteInt32BigEndian(body, i);
            dealer.Send(body);
        }

        await fixture.UntilAsync(() => dealer.GetStatistics().WrittenMessages > 0);
        Task over = how is "dispose" ? dealer.DisposeAsync().AsTask() : Task.CompletedTask;
        if (how is "disconnect")
        {
            dealer.Disconnect(listener.Endpoint);
        }

        if (isReset)
        {
            first.Reset();
        }
        else
        {
            first.Dispose(); // With what it has not read: a reset again, behind an end in order.
        }

        RawPeer second = fixture.Own(await listener.AcceptAsync());
        await second.SendAsync(ZmpFixture.Greeting((byte)ZmpSocketType.Router));
        int last = -1;
        while (last < Messages - 1)
        {
            byte[] header = await second.ReadAsync(ZmpFrame.HeaderSize);
            byte[] frame = await second.ReadAsync(ZmpFrame.ReadLength(header));
            if ((ZmpFlags)header[2] == ZmpFlags.None)
            {
                int number = BinaryPrimitives.ReadInt32BigEndian(frame);
                Assert.True(last < 0 || number == last + 1, $"{number} came behind {last}");
                Assert.Equal(Length, frame.Length);
                last = number;
            }
        }

        second.EndSending();
        Assert.Empty(await second.ReadToEndAsync());
        await over.Guarded();
    }

    [Fact]
    public async Task An_endpoint_that_is_disconnected_and_connected_again_delivers_what_was_sent_before_and_behind_it()
    {
        const int Rounds = 30;
        await using var fixture = new ContextFixture();
        RouterSocket router = fixture.Context.CreateRouter();
        string endpoint = router.Bind("tcp://127.0.0.1:0");
        for (int round = 0; round < Rounds; round++)
        {
            await using DealerSocket dealer = fixture.Context.CreateDealer();
            dealer.Connect(endpoint);
            dealer.Send("first"u8);
            dealer.Disconnect(endpoint);
            dealer.Connect(endpoint);
            dealer.Send("second"u8);
            using Message first = await router.ReceiveAsync(Guard.Token).Guarded();
            using Message second = await router.ReceiveAsync(Guard.Token).Guarded();
            Assert.True(first.Span.SequenceEqual("first"u8));
            Assert.True(second.Span.SequenceEqual("second"u8));
        }
    }

    [Fact]
    public async Task To_connect_behind_thousands_that_linger_takes_no_more_memory_than_behind_a_few()
    {
        const int Few = 10;
        const int Many = 2_000;
        await using var fixture = new ContextFixture(shutdownTimeout: TimeSpan.Zero); // Nobody takes what waits.
        RawListener listener = fixture.Listen();
        DealerSocket dealer = fixture.Context.CreateDealer(new DealerOptions { Linger = Timeout.InfiniteTimeSpan });
        long behindFew = Least(Few);
        Least(Many);
        long behindMany = Least(Few);
        Assert.InRange(behindMany, 0, 2 * behindFew); // As much as references to all of them would be four times that.

        long Least(int connects)
        {
            long least = long.MaxValue;
            for (int i = 0; i < connects; i++)
            {
                long before = GC.GetAllocatedBytesForCurrentThread();
                dealer.Connect(listener.Endpoint);
                least = Math.Min(least, GC.GetAllocatedBytesForCurrentThread() - before); // Now and then a table of the socket's grows.
                dealer.Send("x"u8);
                dealer.Disconnect(listener.Endpoint);
            }

            return least;
        }
    }

    [Fact]
    public async Task A_raised_mark_lets_a_send_in_that_waits_for_binders_of_the_process()
    {
        await using var fixture = new ContextFixture();
        DealerSocket dealer = fixture.Context.CreateDealer(new DealerOptions { SendHighWaterMark = 1, Linger = TimeSpan.Zero });
        dealer.Connect("inproc://one");
        dealer.Connect("inproc://other");
        while (dealer.TrySend("x"u8))
        {
            // Until both are full.
        }

        ValueTask waiting = dealer.SendAsync("waits"u8.ToArray(), Guard.Token);
        Assert.False(waiting.IsCompleted);
        dealer.Options.SendHighWaterMark = 10;
        await waiting.AsTask().Guarded();
        Assert.True(dealer.TrySend("x"u8));
    }
}
