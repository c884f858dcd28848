using System.Buffers;
using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Porting;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native test_msg_ffn: memory that was handed over is let go of once, when nobody needs it any more.</summary>
public sealed class MsgFfnTests
{
    [Fact]
    public void Owned_memory_is_released_with_a_builder_that_was_never_sent()
    {
        // A part below 16 KiB is copied, and its memory let go of at once.
        const int Long = 100_000;
        var owner = new Owner(Long);
        var builder = new MessageBuilder();
        builder.Add(owner, Long);
        Assert.Equal(0, owner.Disposals);
        builder.Dispose();
        Assert.Equal(1, owner.Disposals);
        builder.Dispose();
        Assert.Equal(1, owner.Disposals);
    }

    [Theory]
    [InlineData(Link.Tcp, 255)]
    [InlineData(Link.Tcp, 100_000)]
    [InlineData(Link.Ipc, 255)]
    [InlineData(Link.Ipc, 100_000)]
    [InlineData(Link.Inproc, 255)]
    [InlineData(Link.Inproc, 100_000)]
    public async Task Owned_memory_is_released_once_after_the_message_was_sent_and_received(string transport, int length)
    {
        await using var fixture = new StreamFixture();
        RouterSocket router = fixture.Context.CreateRouter();
        DealerSocket dealer = fixture.Context.CreateDealer();
        dealer.Connect(router.Bind(Link.Any(transport)));
        var alone = new Owner(length);
        await dealer.SendAsync(alone, length, Guard.Token).Guarded();
        var part = new Owner(length);
        using (var builder = new MessageBuilder())
        {
            await dealer.SendAsync(builder.Add("head"u8).Add(part, length), Guard.Token).Guarded();
            Assert.Equal(0, builder.Count);
        }

        using (Message message = await router.ReceiveAsync(Guard.Token).Guarded())
        {
            Wire.AssertSame(alone.Content, message.Span.ToArray());
        }

        using (Message message = await router.ReceiveAsync(Guard.Token).Guarded())
        {
            Assert.Equal(2, message.PartCount);
            Wire.AssertSame(part.Content, message[1].ToArray());
        }

        await fixture.UntilAsync(() => alone.Disposals > 0 && part.Disposals > 0);
        Assert.Equal((1, 1), (alone.Disposals, part.Disposals));
    }

    [Fact]
    public async Task Owned_memory_is_kept_while_a_copy_of_the_message_lives()
    {
        await using var fixture = new StreamFixture();
        PairSocket server = fixture.Context.CreatePair();
        PairSocket client = fixture.Context.CreatePair();
        client.Connect(server.Bind(Link.Any(Link.Inproc)));
        var owner = new Owner(100_000);
        await client.SendAsync(owner, 100_000, Guard.Token).Guarded();
        Message original = await server.ReceiveAsync(Guard.Token).Guarded();
        Message copy = original.Copy();
        original.Dispose();
        Assert.Equal(0, owner.Disposals);
        server.Send(copy);
        using (Message back = await client.ReceiveAsync(Guard.Token).Guarded())
        {
            Wire.AssertSame(owner.Content, back.Span.ToArray());
            Assert.Equal(0, owner.Disposals);
        }

        Assert.Equal(1, owner.Disposals);
    }

    [Fact]
    public async Task Owned_memory_is_released_when_a_ROUTER_drops_the_message()
    {
        await using var fixture = new StreamFixture();
        RouterSocket router = fixture.Context.CreateRouter();
        var owner = new Owner(255);
        await router.To("nobody"u8.ToArray()).SendAsync(owner, 255, Guard.Token).Guarded();
        Assert.Equal(1, owner.Disposals);
    }

    [Fact]
    public async Task Owned_memory_stays_with_the_caller_when_the_send_fails()
    {
        await using var fixture = new StreamFixture();
        RouterSocket router = fixture.Context.CreateRouter(new RouterOptions { Mandatory = true });
        using var owner = new Owner(255);
        ZlinkException failure = await Assert.ThrowsAsync<ZlinkException>(
            () => router.To("nobody"u8.ToArray()).SendAsync(owner, 255, Guard.Token).Guarded());
        Assert.Equal("EHOSTUNREACH", failure.Error.ToNativeName());
        Assert.Equal(0, owner.Disposals);
    }

    private sealed class Owner(int length) : IMemoryOwner<byte>
    {
        private readonly byte[] _bytes = Wire.Pattern(length);
        private int _disposals;

        public int Disposals => Volatile.Read(ref _disposals);

        public byte[] Content => Wire.Pattern(length);

        public Memory<byte> Memory => _bytes;

        public void Dispose()
        {
            Interlocked.Increment(ref _disposals);
            _bytes.AsSpan().Clear(); // Whoever reads it now, reads nonsense.
        }
    }
}
