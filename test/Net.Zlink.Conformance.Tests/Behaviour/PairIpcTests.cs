using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native test_pair_ipc.</summary>
public sealed class PairIpcTests
{
    [Fact]
    public async Task A_pair_bounces()
    {
        await using var fixture = new StreamFixture();
        PairSocket server = fixture.Context.CreatePair();
        PairSocket client = fixture.Context.CreatePair();
        client.Connect(server.Bind(Link.Any(Link.Ipc)));
        await SocketWords.BounceAsync(server, client);
    }

    [Fact]
    public async Task A_path_of_108_characters_is_too_long()
    {
        await using var fixture = new StreamFixture();
        PairSocket server = fixture.Context.CreatePair();
        SocketWords.Fails("ENAMETOOLONG", () => server.Bind($"ipc:///tmp/{new string('a', 108 - "/tmp/".Length)}"));
    }
}
