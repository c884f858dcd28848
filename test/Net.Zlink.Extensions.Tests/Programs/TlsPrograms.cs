using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Extensions.Tests;

/// <summary>Program (h) of the comparison in docs/comparison.md. Its lines are those between the marks.</summary>
public sealed class TlsPrograms
{
    [Fact]
    public async Task Program_h_is_mutual_TLS_which_a_client_without_a_certificate_does_not_pass()
    {
        using var pem = new TestCertificates();
        await using var context = new ZlinkContext();

        // begin h
        var tls = TlsOptions.Mutual(pem.CaFile, pem.CertificateFile, pem.KeyFile);
        RouterSocket server = context.CreateRouter(new RouterOptions { Tls = tls }).BoundTo("tls://127.0.0.1:*");
        DealerSocket client = context.CreateDealer(new DealerOptions { Tls = tls }).ConnectedTo(server.LastEndpoint);
        await client.SendAsync("hello", Guard.Token);
        using Message message = await server.ReceiveAsync(Guard.Token);
        string text = message.GetString();
        // end h

        Assert.Equal("hello", text);
        Assert.Equal("CN=server", message.RemoteCertificate?.Subject);

        DealerSocket stranger = context.CreateDealer(new DealerOptions { Tls = { CaFile = pem.CaFile } });
        stranger.Connect(server.LastEndpoint);
        await Guard.UntilAsync(
            () => stranger.GetPeers() is [{ IsConnected: false, WhyNotConnected: not null }], "a client without a certificate is refused");
    }
}
