using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Porting;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native routing-id/test_connect_rid_string_alias: a name for the next peer is ROUTER's alone. By a method of the classes
/// the other types have none; by its native number the option is refused as natively.</summary>
public sealed class ConnectRidStringAliasTests
{
    [Theory]
    [InlineData("stream-alias")]
    [InlineData("RID1")] // As long as an id of STREAM is.
    public async Task By_its_native_number_STREAM_refuses_the_name_with_EOPNOTSUPP(string name)
    {
        const int ConnectRoutingId = 61;
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Context.CreateStream();
        SocketWords.Fails("EOPNOTSUPP", () => NativeOptions.Set(socket, ConnectRoutingId, SocketWords.Bytes(name)));
    }

    [Fact]
    public void Only_a_router_can_name_its_next_peer()
    {
        foreach (Type type in typeof(ZmpSocket).Assembly.GetExportedTypes()
            .Where(static t => t.IsSubclassOf(typeof(ZmpSocket)) || t == typeof(StreamSocket)))
        {
            bool names = type.GetMethods().Any(static m => m.Name is "Connect" && m.GetParameters() is [_, { ParameterType: { } second }]
                && second == typeof(RoutingId));
            Assert.Equal(type == typeof(RouterSocket), names);
        }
    }

    [Fact]
    public async Task An_empty_name_is_refused()
    {
        await using var fixture = new StreamFixture();
        RouterSocket router = fixture.Context.CreateRouter();
        Assert.Throws<ArgumentException>(() => router.Connect("tcp://127.0.0.1:1", default));
        Assert.Equal(0, router.PeerCount);
    }
}
