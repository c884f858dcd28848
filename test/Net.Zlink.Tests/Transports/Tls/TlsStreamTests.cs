using System.Net.Security;
using System.Net.Sockets;
using System.Runtime.CompilerServices;
using Net.Zlink.Buffers;
using Net.Zlink.Tests.Support;
using Net.Zlink.Transports;
using Net.Zlink.Transports.Tls;
using Net.Zlink.Transports.WebSocket;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Transports.Tls;

/// <summary>The end of a TLS session: the C library beneath bears no farewell beside a read at work.</summary>
public sealed class TlsStreamTests : IAsyncLifetime
{
    private readonly TestCertificates _certificates = new();
    private Socket _ours = null!;
    private TlsStream _tls = null!;
    private HalvingStream _beneathPeer = null!;
    private SslStream _peer = null!;

    public async ValueTask InitializeAsync()
    {
        (Socket peer, _ours) = await ConnectedPairAsync();
        _ours.Blocking = true; // As the stream asks for.
        _tls = new TlsStream(new ReadinessStream(_ours));
        _beneathPeer = new HalvingStream(peer);
        _peer = new SslStream(_beneathPeer);
        await Task.WhenAll(
            _tls.AuthenticateAsServerAsync(new SslServerAuthenticationOptions { ServerCertificate = _certificates.Server }, Guard.Token),
            _peer.AuthenticateAsClientAsync(new SslClientAuthenticationOptions
            {
                TargetHost = "localhost",
                RemoteCertificateValidationCallback = static (_, _, _, e) => e != SslPolicyErrors.RemoteCertificateNotAvailable
            },
                Guard.Token))
            .Guarded();
        _tls.EndHandshake();
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

    [Fact]
    public async Task The_readers_own_close_notify_waits_for_a_write_under_way()
    {
        _tls.Reads.Enter();
        _tls.Writes.Enter();
        Task ending = _tls.ShutdownByReaderAsync();
        await _tls.WriteAsync("still open"u8.ToArray(), Guard.Token);
        Assert.False(ending.IsCompleted);
        _tls.Writes.Leave();
        await ending.Guarded();
        byte[] seen = new byte[100];
        Assert.Equal("still open".Length, await _peer.ReadAsync(seen, Guard.Token).Guarded());
        Assert.Equal(0, await _peer.ReadAsync(seen, Guard.Token).Guarded());
    }

    [Theory]
    [InlineData(0, true)]
    [InlineData(10, true)]
    [InlineData(0, false)]
    [InlineData(10, false)]
    public async Task A_caller_that_does_not_ask_for_early_reads_sees_none_in_a_TLS_stream(int length, bool isServer)
    {
        (Socket theirs, Socket ours) = await ConnectedPairAsync();
        ours.Blocking = true; // As the stream asks for.
        await using var tls = new TlsStream(new ReadinessStream(ours) { IsOfTls = true });
        await using var peer = new SslStream(new NetworkStream(theirs, ownsSocket: true));
        var shown = new SslServerAuthenticationOptions { ServerCertificate = _certificates.Server };
        var asked = new SslClientAuthenticationOptions
        {
            TargetHost = "localhost",
            RemoteCertificateValidationCallback = static (_, _, _, _) => true
        };
        (SslStream server, SslStream client) = isServer ? ((SslStream)tls, peer) : (peer, tls);
        await Task.WhenAll(server.AuthenticateAsServerAsync(shown, Guard.Token), client.AuthenticateAsClientAsync(asked, Guard.Token))
            .Guarded();
        tls.EndHandshake();
        tls.BeginSession();
        Task<int> reading = tls.ReadAsync(new byte[length], CancellationToken.None).AsTask();
        await Guard.UntilAsync(() => ours.Available == 0, "the server's session tickets are read, if there are any");
        Assert.False(reading.IsCompleted);
        await peer.WriteAsync(new byte[10], Guard.Token);
        Assert.Equal(length, await reading.Guarded());
        Assert.Equal(10 - length, await tls.ReadAtLeastAsync(new byte[10], 10 - length, throwOnEndOfStream: true, Guard.Token).AsTask()
            .Guarded());
    }

    /// <summary>What carries a wire's bytes knows of its reads and writes.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_wire_tells_the_session_of_its_reads_and_writes(bool isWebSocket)
    {
        using var stream = new ReadAheadStream(_tls, BufferPool.Shared);
        using IoStreamWire wire = isWebSocket
            ? new WebSocketWire(_ours, TransportTable.Find(EndpointText.Wss)!, System.Net.WebSockets.WebSocket.CreateFromStream(
                stream, isServer: true, subProtocol: null, Timeout.InfiniteTimeSpan), stream, _tls, BufferPool.Shared, isServer: true,
                TimeSpan.Zero, Guard.Limit, TimeProvider.System)
            : new TlsWire(_ours, TransportTable.Find(EndpointText.Tls)!, _tls, BufferPool.Shared);
        wire.Attach(new NoEvents());
        Assert.True(wire.WaitForInput());
        Assert.True(IsUsed(_tls.Reads));
        Assert.False(IsUsed(_tls.Writes));
        while (!wire.BeginSend(new byte[1_000_000], endsMidFrame: false))
        {
            Assert.False(IsUsed(_tls.Writes));
            wire.FinishSend();
        }

        Assert.True(IsUsed(_tls.Writes));
        _ours.Dispose();
        await Task.Run(() => Assert.True(SpinWait.SpinUntil(() => !IsUsed(_tls.Writes) && !IsUsed(_tls.Reads), Guard.Limit)), Guard.Token);
        wire.FinishSend();
        wire.FinishWait();
    }

    private static bool IsUsed(TlsShutdownGate use) => Volatile.Read(ref StateOf(use)) != 0;

    [UnsafeAccessor(UnsafeAccessorKind.Field, Name = "_state")]
    private static extern ref int StateOf(TlsShutdownGate use);

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
            Assert.True(SpinWait.SpinUntil(() => _ours.Available == 0, Guard.Limit)); // The half is read: now it waits for the other.
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

    private sealed class NoEvents : IWireEvents
    {
        public bool IsBusy => false;

        public void OnInput()
        {
        }

        public void OnSent()
        {
        }

        public void OnEnded()
        {
        }
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
