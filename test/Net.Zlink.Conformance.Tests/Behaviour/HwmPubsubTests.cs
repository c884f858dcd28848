using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native test_hwm_pubsub: publishers at their high-water marks.</summary>
public sealed class HwmPubsubTests
{
    [Theory]
    [InlineData(Link.Tcp, 1000)]
    [InlineData(Link.Tcp, 100)]
    [InlineData(Link.Inproc, 1000)]
    [InlineData(Link.Inproc, 100)]
    [InlineData(Link.Ipc, 1000)]
    [InlineData(Link.Ipc, 100)]
    public async Task As_many_messages_as_the_mark_are_sent_and_received(string transport, int mark)
    {
        await using var fixture = new StreamFixture();
        XPubSocket xpub = fixture.Context.CreateXPub(new XPubOptions { SendHighWaterMark = mark });
        SubSocket sub = fixture.Context.CreateSub(new SubOptions { ReceiveHighWaterMark = mark });
        sub.Connect(xpub.Bind(Link.Any(transport)));
        sub.Subscribe("");
        Assert.Equal("\u0001", await xpub.HearOneAsync());
        for (int i = 0; i < mark; i++)
        {
            Assert.True(xpub.TrySend("test message"u8));
        }

        for (int i = 0; i < mark; i++)
        {
            Assert.Equal("test message", await sub.HearOneAsync());
        }

        await fixture.SettleAsync();
        sub.HearsNothing();
    }

    [Theory]
    [MemberData(nameof(Link.All), MemberType = typeof(Link))]
    public async Task A_publisher_that_must_not_drop_refuses_while_its_subscriber_is_full_and_loses_nothing(string transport)
    {
        const int Mark = 2000;
        const int Count = 6000;
        await using var fixture = new StreamFixture();
        XPubSocket xpub = fixture.Context.CreateXPub(
            new XPubOptions { SendHighWaterMark = Mark, NoDrop = true, SendBufferSize = 16 * 1024 });
        SubSocket sub = fixture.Context.CreateSub(new SubOptions { ReceiveHighWaterMark = Mark, ReceiveBufferSize = 16 * 1024 });
        sub.Connect(xpub.Bind(Link.Any(transport)));
        sub.Subscribe("");
        Assert.Equal("\u0001", await xpub.HearOneAsync());

        // Long enough that the kernel's own buffers do not take the rest.
        byte[] payload = Wire.Pattern(1024);
        int refusals = 0;
        int received = 0;
        for (int sent = 0; sent < Count;)
        {
            if (xpub.TrySend(payload))
            {
                sent++;
                continue;
            }

            refusals++;
            using Message one = await sub.ReceiveAsync(Guard.Token).Guarded();
            received++;
            while (sub.TryReceive(out Message more))
            {
                Assert.Equal(payload.Length, more.Span.Length);
                more.Dispose();
                received++;
            }
        }

        Assert.True(refusals > 0, "the publisher was never full");
        for (; received < Count; received++)
        {
            using Message one = await sub.ReceiveAsync(Guard.Token).Guarded();
        }

        xpub.Say("end");
        Assert.Equal("end", await sub.HearOneAsync());
        Assert.Equal(0, xpub.GetStatistics().DroppedAtHighWaterMark);
    }

    [Theory]
    [MemberData(nameof(Link.All), MemberType = typeof(Link))]
    public async Task After_a_burst_below_the_mark_was_read_the_next_burst_passes_too(string transport)
    {
        const int Mark = 11024;
        await using var fixture = new StreamFixture();
        PubSocket pub = fixture.Context.CreatePub(new PubOptions { SendHighWaterMark = Mark });
        SubSocket sub = fixture.Context.CreateSub(new SubOptions { ReceiveHighWaterMark = Mark });
        sub.Connect(pub.Bind(Link.Any(transport)));
        sub.Subscribe("");
        await fixture.UntilAsync(() => pub.TopicCount == 1);
        foreach (int burst in (int[])[9999, 1100])
        {
            for (int i = 0; i < burst; i++)
            {
                Assert.True(pub.TrySend("test message"u8));
            }

            for (int i = 0; i < burst; i++)
            {
                Assert.Equal("test message", await sub.HearOneAsync());
            }
        }

        await fixture.SettleAsync();
        sub.HearsNothing();
    }
}
