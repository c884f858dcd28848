using System.Security.Authentication;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Transports.Tls;

/// <summary>A resumed session holds the client's certificate, and not those of its issuers that came with it.</summary>
public sealed class MutualResumeTests : IDisposable
{
    private readonly Authorities _own = new();

    public void Dispose() => _own.Dispose();

    [Theory]
    [InlineData(SslProtocols.Tls12)]
    [InlineData(SslProtocols.Tls13)]
    public async Task A_client_whose_chain_has_one_between_may_connect_again_and_again(SslProtocols protocols)
    {
        await using var fixture = new StreamFixture();
        StreamSocket server = fixture.Context.CreateStream();
        StreamSocket client = fixture.Context.CreateStream();
        server.Options.Tls.Certificate = _own.Server;
        server.Options.Tls.RequireClientCertificate = true;
        server.Options.Tls.Protocols = protocols;
        client.Options.Tls.CaFile = _own.CaFile;
        (server.Options.Tls.CaFile, client.Options.Tls.CertificateFile, client.Options.Tls.KeyFile) = _own.WriteChain();
        string endpoint = server.Bind("tls://127.0.0.1:0");
        for (int i = 0; i < 3; i++)
        {
            uint there = await client.ConnectAsync(endpoint, Guard.Token).Guarded();
            Assert.Equal(there, await client.NextConnectedAsync());
            uint here = await server.NextConnectedAsync();
            Assert.True(server.TrySend(here, "behind the tickets"u8)); // Who has read it has the session to resume.
            Assert.Equal("behind the tickets"u8.ToArray(), await client.NextDataAsync(there));
            client.Disconnect(there);
            Assert.Equal(here, (await server.NextDisconnectedAsync()).PeerId);
            Assert.Equal(there, (await client.NextDisconnectedAsync()).PeerId);
        }
    }
}
