using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native test_pair_tcp.</summary>
public sealed class PairTcpTests
{
    [Theory]
    [InlineData("127.0.0.1")]
    [InlineData("localhost")]
    public async Task A_pair_bounces_whether_the_host_is_a_number_or_a_name(string host)
    {
        await using var fixture = new StreamFixture();
        PairSocket server = fixture.Context.CreatePair();
        PairSocket client = fixture.Context.CreatePair();
        string endpoint = server.Bind(Link.Any(Link.Tcp));
        client.Connect(endpoint.Replace("127.0.0.1", host, StringComparison.Ordinal));
        await SocketWords.BounceAsync(server, client);
    }
}
