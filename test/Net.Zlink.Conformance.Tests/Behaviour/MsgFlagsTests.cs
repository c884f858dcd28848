using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native test_msg_flags. "More" is the number of parts here, and sharing shows in who keeps the bytes alive.</summary>
public sealed class MsgFlagsTests
{
    [Fact]
    public async Task A_message_of_two_parts_comes_as_the_id_and_two_parts()
    {
        await using var fixture = new StreamFixture();
        RouterSocket router = fixture.Context.CreateRouter();
        DealerSocket dealer = fixture.Context.CreateDealer();
        dealer.Connect(router.Bind(Link.Any(Link.Inproc)));
        dealer.Say("A", "B");
        (byte[] id, string[] parts) = await router.HearFromAsync();
        Assert.Equal(16, id.Length);
        Assert.Equal(["A", "B"], parts);
    }

    [Fact]
    public async Task A_copy_shares_the_bytes_and_outlives_the_original()
    {
        await using var fixture = new StreamFixture();
        PairSocket server = fixture.Context.CreatePair();
        PairSocket client = fixture.Context.CreatePair();
        client.Connect(server.Bind(Link.Any(Link.Inproc)));
        byte[] sent = Wire.Pattern(1024);
        client.Send(sent);
        Message original = await server.ReceiveAsync(Guard.Token).Guarded();
        using Message copy = original.Copy();
        Assert.True(original.Span.Overlaps(copy.Span));
        original.Dispose();
        Assert.Throws<ObjectDisposedException>(() => original.Memory);
        Wire.AssertSame(sent, copy.Span.ToArray());
    }
}
