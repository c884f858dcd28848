using NATS.Client.Core;
using Net.Zlink.Discovery.Tests.Nats;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Extensions.Tests;

/// <summary>Program (h) with NATS.Net, whose server gets its half of the certificates by its command line.</summary>
public sealed class NatsTlsPrograms
{
    [SlowFact]
    public async Task Program_h_with_NATS_is_mutual_TLS_which_a_client_without_a_certificate_does_not_pass()
    {
        using var pem = new TestCertificates();
        await using NatsServer nats = await NatsServer.StartAsync(
            "--tlsverify", "--tlscacert", pem.CaFile, "--tlscert", pem.CertificateFile, "--tlskey", pem.KeyFile);
        string url = nats.Url;

        // begin h
        var tls = new NatsTlsOpts { Mode = TlsMode.Require, CaFile = pem.CaFile, CertFile = pem.CertificateFile, KeyFile = pem.KeyFile };
        await using var server = new NatsConnection(new NatsOpts { Url = url, TlsOpts = tls });
        await using var client = new NatsConnection(new NatsOpts { Url = url, TlsOpts = tls });
        await using INatsSub<string> inbox = await server.SubscribeCoreAsync<string>("hello", cancellationToken: Guard.Token);
        await client.PublishAsync("hello", "hello", cancellationToken: Guard.Token);
        string? text = (await inbox.Msgs.ReadAsync(Guard.Token)).Data;
        // end h

        Assert.Equal("hello", text);
        await using var stranger = new NatsConnection(
            new NatsOpts { Url = url, TlsOpts = new NatsTlsOpts { Mode = TlsMode.Require, CaFile = pem.CaFile } });
        await Assert.ThrowsAsync<NatsException>(async () => await stranger.ConnectAsync());
    }
}
