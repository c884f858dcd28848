using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;
using System.Text;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Transports.WebSocket;

/// <summary>How a connection ends behind a refusal.</summary>
public sealed class UpgradeRefusedTests
{
    private const byte Alert = 0x15;

    [Theory]
    [InlineData("GET / HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 400 ")]
    [InlineData("GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: "
        + "dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 8\r\n\r\n", "HTTP/1.1 426 ")]
    [InlineData("no request", "")]
    public async Task Over_wss_the_end_behind_it_is_announced_with_close_notify(string request, string answer)
    {
        using var certificates = new TestCertificates();
        await using var fixture = new StreamFixture(time: new ManualTimeProvider()); // The refused peer's second is never over.
        StreamSocket server = fixture.Context.CreateStream();
        server.Options.Tls.Certificate = certificates.Server;
        RawPeer peer = await fixture.ConnectAsync(RawWebSocket.TcpOf(server.Bind("wss://127.0.0.1:0")));
        await using var beneath = new RecordingStream(peer.Socket);
        await using var secure = new SslStream(beneath);
        await secure.AuthenticateAsClientAsync(
            new SslClientAuthenticationOptions
            {
                TargetHost = "localhost",
                EnabledSslProtocols = SslProtocols.Tls12, // Whose records say outside what they are.
                RemoteCertificateValidationCallback = LayeredClient.AnyCertificate,
            },
            Guard.Token).Guarded();
        await secure.WriteAsync(Encoding.ASCII.GetBytes(request), Guard.Token).Guarded();
        using var reader = new StreamReader(secure, Encoding.ASCII, leaveOpen: true);
        Assert.StartsWith(answer, await reader.ReadToEndAsync(Guard.Token).Guarded(), StringComparison.Ordinal);
        Assert.Equal(Alert, beneath.TypeOfLastRecord());
        Assert.Equal(0, await beneath.ReadAsync(new byte[1], Guard.Token).Guarded()); // And our end of TCP.
    }

    [Fact]
    public async Task A_peer_that_goes_on_sending_behind_it_is_cut_off_though_its_second_is_not_over()
    {
        const int Most = 64 * 1024 * 1024; // Of which 16 are read, and a few may wait in the two systems' queues.
        await using var fixture = new StreamFixture(time: new ManualTimeProvider());
        RawPeer peer = await fixture.ConnectAsync(RawWebSocket.TcpOf(fixture.Context.CreateStream().Bind("ws://127.0.0.1:0")));
        await peer.SendAsync("GET / HTTP/1.1\r\nHost: a\r\n\r\n"u8.ToArray());
        byte[] more = new byte[64 * 1024];
        await Assert.ThrowsAsync<SocketException>(async () =>
        {
            for (int sent = 0; sent < Most; sent += more.Length)
            {
                await peer.SendAsync(more);
            }
        });
    }

    /// <summary>Keeps what was read of a TLS session.</summary>
    private sealed class RecordingStream(Socket socket) : NetworkStream(socket, ownsSocket: false)
    {
        private readonly List<byte> _read = [];

        public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
        {
            int read = await base.ReadAsync(buffer, cancellationToken);
            _read.AddRange(buffer.Span[..read]);
            return read;
        }

        public byte TypeOfLastRecord()
        {
            const int Header = 5; // The type, the version in 2 bytes, the length in 2.
            int last = 0;
            for (int at = 0; at < _read.Count; at += Header + ((_read[at + 3] << 8) | _read[at + 4]))
            {
                last = at;
            }

            return _read[last];
        }
    }
}
