using NATS.Client.Core;
using Net.Zlink.Discovery.Tests.Nats;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Extensions.Tests;

/// <summary>Program (h) with NATS.Net, whose server has its half of the certificates in a file of its own.</summary>
public sealed class NatsTlsPrograms
{
    [Fact]
    public async Task Program_h_with_NATS_is_mutual_TLS()
    {
        using var pem = new TestCertificates();
        await using NatsServer nats = await NatsServer.StartAsync();
        string url = nats.Url;

        // begin h
        var tls = new NatsTlsOpts { Mode = TlsMode.Require, CaFile = pem.CaFile, CertFile = pem.CertificateFile, KeyFile = pem.KeyFile };
        await using var server = new NatsConnection(new NatsOpts { Url = url, TlsOpts = tls });
        await using var client = new NatsConnection(new NatsOpts { Url = url, TlsOpts = tls });
        // end h

        // The server has no certificate here: it is refused.
        await Assert.ThrowsAsync<NatsException>(async () => await client.ConnectAsync());
    }
}
