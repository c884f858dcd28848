using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native test_ipc_wildcard.</summary>
public sealed class IpcWildcardTests
{
    [Fact]
    public async Task A_wildcard_makes_a_path_that_can_be_connected()
    {
        await using var fixture = new StreamFixture();
        PairSocket server = fixture.Context.CreatePair();
        PairSocket client = fixture.Context.CreatePair();
        server.Bind("ipc://*");
        Assert.StartsWith("ipc://", server.LastEndpoint, StringComparison.Ordinal);
        Assert.DoesNotContain('*', server.LastEndpoint);
        client.Connect(server.LastEndpoint);
        await SocketWords.BounceAsync(server, client);
    }
}
