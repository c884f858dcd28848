using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native test_abstract_ipc: names that are no files, on Linux.</summary>
public sealed class AbstractIpcTests
{
    [Fact]
    public async Task An_abstract_name_is_bound_as_given_and_carries_messages()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "abstract names exist on Linux only");
        await using var fixture = new StreamFixture();
        PairSocket server = fixture.Context.CreatePair();
        PairSocket client = fixture.Context.CreatePair();
        string endpoint = $"ipc://@tmp-tester-{Guid.NewGuid():N}";
        Assert.Equal(endpoint, server.Bind(endpoint));
        Assert.Equal(endpoint, server.LastEndpoint);
        client.Connect(endpoint);
        await SocketWords.BounceAsync(server, client);
    }

    [Fact]
    public async Task An_abstract_name_of_no_length_is_invalid()
    {
        await using var fixture = new StreamFixture();
        PairSocket server = fixture.Context.CreatePair();
        SocketWords.Fails("EINVAL", () => server.Bind("ipc://@"));
    }
}
