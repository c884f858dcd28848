using System.Net.Security;
using System.Net.Sockets;
using Net.Zlink.Tests.Support;
using Net.Zlink.Transports;
using Net.Zlink.Transports.Tls;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineKit;

namespace Net.Zlink.Tests.Transports.Tls;

/// <summary>The end of a TLS session: the C library beneath bears no farewell beside a read at work.</summary>
public sealed class TlsStreamTests : IAsyncLifetime
{
    private readonly TestCertificates _certificates = new();
    private TlsStream _tls = null!;
    private HalvingStream _beneathPeer = null!;
    private SslStream _peer = null!;

    public async ValueTask InitializeAsync()
    {
        (Socket peer, Socket ours) = await ConnectedPairAsync();
        ours.Blocking = true; // As the stream asks for.
        _tls = new TlsStream(new ReadinessStream(ours));
        _beneathPeer = new HalvingStream(peer);
        _peer = new SslStream(_beneathPeer);
        await Task.WhenAll(
            _tls.AuthenticateAsServerAsync(new SslServerAuthenticationOptions { ServerCertificate = _certificates.Server }, Guard.Token),
            _peer.AuthenticateAsClientAsync(new SslClientAuthenticationOptions { TargetHost = "localhost", RemoteCertificateValidationCallback = static (_, _, _, e) => e != SslPolicyErrors.RemoteCertificateNotAvailable }, Guard.Token))
            .Guarded();
    }

    public async ValueTask DisposeAsync()
    {
        await _tls.DisposeAsync();
        await _peer.DisposeAsync();
        _certificates.Dispose();
    }

    [Fact]
    public async Task Close_notify_waits_for_a_read_at_work()
    {
        _tls.Reads.Enter();
        Task ending = _tls.ShutdownAsync();
        Task<int> seen = _peer.ReadAsync(new byte[10], Guard.Token).AsTask();
        await _tls.WriteAsync("still open"u8.ToArray(), Guard.Token); // It would be refused behind a close_notify.
        Assert.Equal("still open".Length, await seen.Guarded());
        Assert.False(ending.IsCompleted);
        _tls.Reads.Leave();
        await ending.Guarded();
        Assert.Equal(0, await _peer.ReadAsync(new byte[10], Guard.Token).Guarded());
    }

    [Theory]
    [InlineData(0, false)] // The wait for input
    [InlineData(0, true)]
    [InlineData(100, false)] // A read
    [InlineData(100, true)] // A read of a record that has come in half
    public async Task Close_notify_does_not_wait_for_a_read_that_waits_for_input(int length, bool hasHalf)
    {
        _tls.Reads.Enter();
        byte[] into = new byte[length];
        Task<int> reading = _tls.ReadAsync(into, Guard.Token).AsTask();
        if (hasHalf)
        {
            _beneathPeer.Halves = true;
            await _peer.WriteAsync(new byte[1000], Guard.Token);
        }

        await _tls.ShutdownAsync().Guarded();
        Assert.Equal(0, await _peer.ReadAsync(new byte[10], Guard.Token).Guarded());
        Assert.False(reading.IsCompleted);
        await _beneathPeer.WriteRestAsync();
        if (!hasHalf)
        {
            await _peer.WriteAsync(new byte[1000], Guard.Token);
        }

        Assert.Equal(length, await reading.Guarded());
    }

    /// <summary>A socket's stream that can be made to keep the second half of what it is given.</summary>
    private sealed class HalvingStream(Socket socket) : NetworkStream(socket, ownsSocket: true)
    {
        private ReadOnlyMemory<byte> _rest;

        public bool Halves { get; set; }

        public ValueTask WriteRestAsync() => base.WriteAsync(_rest, Guard.Token);

        public override ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
        {
            if (!Halves)
            {
                return base.WriteAsync(buffer, cancellationToken);
            }

            Halves = false;
            _rest = buffer[(buffer.Length / 2)..].ToArray();
            return base.WriteAsync(buffer[..(buffer.Length / 2)], cancellationToken);
        }
    }
}
