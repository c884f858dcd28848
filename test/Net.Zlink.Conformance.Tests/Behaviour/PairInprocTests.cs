using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native test_pair_inproc.</summary>
public sealed class PairInprocTests
{
    [Fact]
    public async Task A_pair_bounces()
    {
        await using var fixture = new StreamFixture();
        PairSocket server = fixture.Context.CreatePair();
        PairSocket client = fixture.Context.CreatePair();
        client.Connect(server.Bind(Link.Any(Link.Inproc)));
        await SocketWords.BounceAsync(server, client);
    }

    [Fact]
    public async Task Two_constant_parts_arrive_as_one_message()
    {
        await using var fixture = new StreamFixture();
        PairSocket server = fixture.Context.CreatePair();
        PairSocket client = fixture.Context.CreatePair();
        client.Connect(server.Bind(Link.Any(Link.Inproc)));
        using (var message = new MessageBuilder())
        {
            client.Send(message.Add("foo"u8).Add("foobar"u8));
        }

        Assert.Equal(["foo", "foobar"], await server.HearAsync());
    }
}
