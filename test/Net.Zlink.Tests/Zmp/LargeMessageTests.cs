using System.Buffers;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>Messages of handed-over parts that together are longer than any array.</summary>
public sealed class LargeMessageTests
{
    private const int Part = 64 * 1024 * 1024;
    private const int Parts = 33;
    private const int Limit = 1024 * 1024;

    // One array for all parts, of which nothing but the first byte is ever touched.
    private readonly byte[] _bytes = new byte[Part];
    private int _letGo;

    public LargeMessageTests() => _bytes[0] = 7;

    [Fact]
    public async Task More_than_2_GiB_that_wait_fill_the_byte_limit()
    {
        await using var fixture = new ContextFixture();
        DealerSocket dealer = fixture.Context.CreateDealer(new DealerOptions { Linger = TimeSpan.Zero, SendByteLimit = Limit });
        dealer.Connect(fixture.Listen().Endpoint);
        Assert.True(Send(message => dealer.TrySend(message)));
        Assert.False(dealer.TrySend("over the limit"u8));
        dealer.Dispose();
        await fixture.UntilAsync(() => _letGo == Parts);
    }

    [Fact]
    public async Task More_than_2_GiB_go_to_each_of_several_peers_over_wires()
    {
        await using var fixture = new ContextFixture();
        XSubSocket subscriber = fixture.Context.CreateXSub(new XSubOptions { Linger = TimeSpan.Zero, SendByteLimit = Limit });
        subscriber.Connect(fixture.Listen().Endpoint);
        subscriber.Connect(fixture.Listen().Endpoint);
        Assert.True(Send(message => subscriber.TrySend(message)));
        subscriber.Send("over the limit"u8);
        SocketStatistics statistics = subscriber.GetStatistics();
        Assert.Equal((2, 2), (statistics.QueuedMessages, statistics.DroppedAtByteLimit));
        subscriber.Dispose();
        await fixture.UntilAsync(() => _letGo == Parts);
    }

    [Fact]
    public async Task More_than_2_GiB_go_to_each_of_several_subscribers_of_the_process()
    {
        await using var fixture = new ContextFixture();
        PubSocket publisher = fixture.Context.CreatePub();
        publisher.Bind("inproc://large");
        SubSocket[] subscribers = [.. Enumerable.Range(0, 2).Select(_ => fixture.Context.CreateSub())];
        foreach (SubSocket subscriber in subscribers)
        {
            subscriber.Subscribe([]);
            subscriber.Connect("inproc://large");
        }

        Assert.True(Send(message => publisher.TrySend(message)));
        foreach (SubSocket subscriber in subscribers)
        {
            Assert.Equal(0, _letGo);
            using Message message = await subscriber.ReceiveAsync(Guard.Token).Guarded();
            Assert.Equal((Parts, Part), (message.PartCount, message[Parts - 1].Length));
        }

        Assert.Equal(Parts, _letGo);
    }

    private bool Send(Func<MessageBuilder, bool> send)
    {
        using var builder = new MessageBuilder();
        for (int i = 0; i < Parts; i++)
        {
            builder.Add(new Owner(this), Part);
        }

        return send(builder);
    }

    private sealed class Owner(LargeMessageTests test) : IMemoryOwner<byte>
    {
        public Memory<byte> Memory => test._bytes;

        public void Dispose() => Interlocked.Increment(ref test._letGo);
    }
}
