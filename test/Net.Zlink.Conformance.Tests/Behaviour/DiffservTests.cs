using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native test_diffserv.</summary>
public sealed class DiffservTests
{
    [Fact]
    public async Task The_type_of_service_reads_back_and_messages_pass()
    {
        await using var fixture = new StreamFixture();
        PairSocket server = fixture.Context.CreatePair(new PairOptions { TypeOfService = 0x28 });
        PairSocket client = fixture.Context.CreatePair(new PairOptions { TypeOfService = 0x58 });
        client.Connect(server.Bind(Link.Any(Link.Tcp)));
        Assert.Equal(0x28, server.Options.TypeOfService);
        Assert.Equal(0x58, client.Options.TypeOfService);
        await SocketWords.BounceAsync(server, client);
    }
}
