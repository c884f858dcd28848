using System.Net;
using System.Net.Sockets;
using Net.Zlink.Tests.Support;
using Samples;
using Xunit;

namespace Net.Zlink.Samples.Tests;

/// <summary>Where else the EchoServer sample listens.</summary>
public sealed class EchoServerEndpointTests
{
    [Theory]
    [InlineData("tls://127.0.0.1:0")]
    [InlineData("wss://127.0.0.1:0")]
    public async Task A_certificate_from_files_serves_clients_that_trust_its_authority(string endpoint)
    {
        using var certificates = new TestCertificates();
        await using ChildProcess server = Echo.Start(
            "--endpoint", endpoint, "--cert", certificates.CertificateFile, "--key", certificates.KeyFile, "--quiet");
        await AssertEchoesAsync(server, certificates.CaFile);
    }

    [Fact]
    public async Task A_host_in_brackets_is_listened_on()
    {
        Assert.SkipUnless(CanBindIPv6(), "NOT TESTED HERE: this machine has no IPv6 loopback address");
        await using ChildProcess server = Echo.Start("--endpoint", "tcp://[::1]:0", "--quiet");
        await AssertEchoesAsync(server, caFile: "");
    }

    private static bool CanBindIPv6()
    {
        using var socket = new Socket(AddressFamily.InterNetworkV6, SocketType.Stream, ProtocolType.Tcp);
        try
        {
            socket.Bind(new IPEndPoint(IPAddress.IPv6Loopback, 0));
            return true;
        }
        catch (SocketException)
        {
            return false;
        }
    }

    private static async Task AssertEchoesAsync(ChildProcess server, string caFile)
    {
        string ready = await server.ReadLineAsync("READY ");
        await using var context = new ZlinkContext();
        StreamSocket client = context.CreateStream(new StreamOptions { IPv6 = true });
        client.Options.Tls.CaFile = caFile;
        uint peer = await client.ConnectAsync(ready["READY ".Length..].Split(' ')[0], Guard.Token).Guarded();
        client.To(peer).Send("hello"u8);
        while (true)
        {
            using StreamMessage message = await client.ReceiveAsync(Guard.Token).Guarded();
            if (message.Kind == StreamMessageKind.Data)
            {
                Assert.Equal("hello"u8, message.Payload.Span);
                return;
            }
        }
    }
}
