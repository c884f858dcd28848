using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Tests.Support;
using Net.Zlink.Tests.Transports.Tls;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native test_zmp_ws_wss: a pair over ws, and over wss with an authority's file and a host name.</summary>
public sealed class ZmpWsWssTests
{
    [Fact]
    public async Task A_pair_bounces_over_ws()
    {
        await using var fixture = new StreamFixture();
        PairSocket server = fixture.Context.CreatePair();
        PairSocket client = fixture.Context.CreatePair();
        client.Connect(server.Bind("ws://127.0.0.1:*"));
        await SocketWords.BounceAsync(server, client);
    }

    [Fact]
    public async Task A_pair_bounces_over_wss_with_an_authority_and_a_host_name()
    {
        await using var fixture = new StreamFixture();
        Authorities files = fixture.Own(new Authorities());
        PairSocket server = fixture.Context.CreatePair().Certificate(files.CertificateFile, files.KeyFile);
        PairSocket client = fixture.Context.CreatePair().Authority(files.CaFile).HostName("localhost").TrustSystem(false);
        client.Connect(server.Bind("wss://127.0.0.1:*"));
        await SocketWords.BounceAsync(server, client);
    }
}
