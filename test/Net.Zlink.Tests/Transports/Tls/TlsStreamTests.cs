using System.Net.Security;
using System.Net.Sockets;
using Net.Zlink.Buffers;
using Net.Zlink.Sockets.Endpoints;
using Net.Zlink.Tests.Support;
using Net.Zlink.Transports;
using Net.Zlink.Transports.Tls;
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
        _tls = new TlsStream(new WireStream(_ours, BufferPool.Shared));
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
        _tls.Inner.EndHandshake();
    }

    public async ValueTask DisposeAsync()
    {
        await _tls.DisposeAsync();
        await _peer.DisposeAsync();
        _certificates.Dispose();
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)] // A record has come in half.
    public async Task Close_notify_does_not_wait_for_a_read_that_waits_for_input(bool hasHalf)
    {
        using var wire = new TlsWire(_ours, TransportTable.Find(EndpointText.Tls)!, _tls, BufferPool.Shared);
        var events = new Events();
        wire.Attach(events);
        Assert.Equal(WireStatus.WouldWait, Wait(wire));
        if (hasHalf)
        {
            _beneathPeer.Halves = true;
            await _peer.WriteAsync(new byte[1000], Guard.Token);
            await Guard.UntilAsync(() => events.Inputs == 1, "the half has come");
            Assert.Equal(WireStatus.WouldWait, wire.FinishWait());
        }

        Assert.Equal(WireStatus.Done, wire.EndSending(WireEnd.Finished));
        Assert.Equal(0, await _peer.ReadAsync(new byte[10], Guard.Token).Guarded());
        await _beneathPeer.WriteRestAsync();
        if (!hasHalf)
        {
            await _peer.WriteAsync(new byte[1000], Guard.Token);
        }

        await Guard.UntilAsync(() => wire.Receive(new byte[1000], out int received) == WireStatus.Done && received == 1000, "all has come");
    }

    private static WireStatus Wait(TlsWire wire) => wire.WaitForInput() ? WireStatus.WouldWait : wire.FinishWait();

    [Theory]
    [InlineData(0, true)]
    [InlineData(10, true)]
    [InlineData(0, false)]
    [InlineData(10, false)]
    public async Task A_caller_that_does_not_ask_for_early_reads_sees_none_in_a_TLS_stream(int length, bool isServer)
    {
        (Socket theirs, Socket ours) = await ConnectedPairAsync();
        ours.Blocking = true; // As the stream asks for.
        await using var tls = new TlsStream(new WireStream(ours, BufferPool.Shared) { IsOfTls = true });
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
        tls.Inner.EndHandshake();
        tls.BeginSession();
        Task<int> reading = tls.ReadAsync(new byte[length], CancellationToken.None).AsTask();
        await Guard.UntilAsync(() => !tls.Inner.TryContinue() && ours.Available == 0, "the server's session tickets are read, if any came");
        Assert.False(reading.IsCompleted);
        await peer.WriteAsync(new byte[10], Guard.Token);
        Assert.Equal(length, await ContinueAsync(reading));
        Assert.Equal(10 - length, await ContinueAsync(
            tls.ReadAtLeastAsync(new byte[10], 10 - length, throwOnEndOfStream: true, Guard.Token).AsTask()));

        async Task<int> ContinueAsync(Task<int> task)
        {
            await Guard.UntilAsync(() => task.IsCompleted || (tls.Inner.TryContinue() && task.IsCompleted), "the read is over");
            return await task;
        }
    }

    private sealed class Events : IWireEvents
    {
        private int _inputs;

        public int Inputs => Volatile.Read(ref _inputs);

        public void OnInput() => Interlocked.Increment(ref _inputs);

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
