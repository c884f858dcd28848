using System.Net.Sockets;
using System.Net.WebSockets;
using System.Security.Cryptography.X509Certificates;
using Net.Zlink.Buffers;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.WebSocket;
using Net.Zlink.Transports.Tls;

namespace Net.Zlink.Transports.WebSocket;

/// <summary>Bytes after either head are the first of the WebSocket.</summary>
internal abstract class WebSocketUpgrade(TlsUpgrade? tls, bool isServer, TransportSettings settings) : WireUpgrade
{
    protected const int Ended = -1;

    protected const int TooLong = -2;

    private const string Exchange = "the WebSocket upgrade";

    private static readonly TimeSpan ErrorResponseLimit = TimeSpan.FromSeconds(1);

    public override string FirstPhase => tls?.FirstPhase ?? Exchange;

    public override string? Staleness => tls?.Staleness;

    protected override TimeSpan Limit => settings.HandshakeTimeout;

    protected WebSocketTransportOptions Settings => settings.WebSocket;

    public override async Task<UpgradeResult> RunAsync(
        SocketWire raw, BufferPool pool, TimeProvider time, PeerWait? waits, CancellationToken cancellation)
    {
        Socket socket = raw.Socket;
        TlsStream? secure = null;
        WireStream? inner;
        UpgradeResult failure;
        if (tls is not null)
        {
            (secure, failure) = await tls.AuthenticateAsync(socket, pool, time, waits, cancellation).ConfigureAwait(false);
            inner = secure?.Inner;
        }
        else
        {
            inner = TryOpen(socket, pool, out failure);
        }

        if (inner is null)
        {
            return failure;
        }

        inner.PeerWaits = waits;
        var stream = new FrameStream((Stream?)secure ?? inner, inner, pool) { LongestHead = Settings.MaxUpgradeSize };
        UpgradeResult result = await ExchangeAsync(stream, secure, raw, pool, time, cancellation).ConfigureAwait(false);
        if (result.Wire is { } wire)
        {
            wire.PollingThread = inner.EndHandshake();
            return result;
        }

        if (isServer && result.Cause == HandshakeFailure.Malformed)
        {
            return result with { ErrorResponse = EndInOrderAsync(stream, secure, socket, time, cancellation) };
        }

        stream.Release();
        return result;
    }

    protected abstract Task<(UpgradeResult? Failure, UpgradeHead? Head, string? SubProtocol)> ExchangeAsync(
        FrameStream stream, Socket socket, X509Certificate2? certificate, CancellationToken cancellation);

    protected static async Task<int> ReadHeadAsync(FrameStream stream, bool isRequest, CancellationToken cancellation)
    {
        while (await stream.FillAsync(cancellation).ConfigureAwait(false))
        {
            bool mayBe = isRequest ? HttpHead.MayBeRequest(stream.Buffered) : HttpHead.MayBeAnswer(stream.Buffered);
            int length = HttpHead.LengthOf(stream.Buffered);
            if (!mayBe)
            {
                return 0;
            }

            if (length == 0 && stream.Buffered.Length >= stream.LongestHead)
            {
                return TooLong;
            }

            if (length > 0)
            {
                return length;
            }
        }

        return Ended;
    }

    protected static UpgradeResult Malformed(string sentence) =>
        new(null, HandshakeFailure.Malformed, SocketError.ConnectionRefused, sentence);

    /// <summary>Over TLS 1.3 the peer may end because of our certificate, which it validates after our side's handshake.</summary>
    protected UpgradeResult Left(string sentence) =>
        new(null, HandshakeFailure.Lost, SocketError.ConnectionReset, tls is null ? sentence
            : $"{sentence}; over wss it may have rejected this side's certificate, or its absence");

    /// <summary>
    /// Ends our side and reads for a moment: unread bytes would turn our close into a reset, which destroys the response.
    /// </summary>
    private static async Task EndInOrderAsync(
        FrameStream stream, TlsStream? secure, Socket socket, TimeProvider time, CancellationToken cancellation)
    {
        try
        {
            using var deadline = new Deadline(ErrorResponseLimit, time, cancellation);
            if (secure is not null)
            {
                await secure.ShutdownAsync().WaitAsync(deadline.Token).ConfigureAwait(false);
            }

            socket.Shutdown(SocketShutdown.Send);
            await stream.Inner.DiscardAsync(deadline.Token).ConfigureAwait(false);
        }
        catch (Exception e) when (IoStreamErrors.IsOfStream(e))
        {
            // Disconnected, or it goes on sending: close anyway.
        }

        stream.Release();
    }

    private async Task<UpgradeResult> ExchangeAsync(
        FrameStream stream, TlsStream? secure, SocketWire raw, BufferPool pool, TimeProvider time, CancellationToken cancellation)
    {
        using Deadline deadline = StartPhase(time, cancellation);
        try
        {
            X509Certificate2? certificate = secure?.PeerCertificate;
            (UpgradeResult? failure, UpgradeHead? head, string? subProtocol) =
                await ExchangeAsync(stream, raw.Socket, certificate, deadline.Token).ConfigureAwait(false);
            if (failure is { } why)
            {
                return why;
            }

            // The library's PINGs have a timer for each connection, and come while there is traffic, too.
            var options = new WebSocketCreationOptions { IsServer = isServer, KeepAliveInterval = TimeSpan.Zero };
            var webSocket = System.Net.WebSockets.WebSocket.CreateFromStream(stream, options);

            // After both CLOSEs the library's client waits a second for the server's end, and then abandons that read.
            stream.IsOver = () => webSocket.State == WebSocketState.Closed;
            return UpgradeResult.Of(new WebSocketWire(
                raw.Socket, raw.Transport, webSocket, stream, secure, pool, isServer, Settings.PingInterval, settings.CloseTimeout, time)
            {
                RemoteCertificate = certificate,
                Tls = secure is null ? null : new TlsSession(secure),
                Request = head,
                SubProtocol = subProtocol,
            });
        }
        catch (Exception e) when (IoStreamErrors.IsOfStream(e))
        {
            return ResultOf(Exchange, e, deadline, cancellation);
        }
    }
}

internal sealed class WebSocketClientUpgrade(
    TlsUpgrade? tls, string authority, string path, TransportSettings settings) : WebSocketUpgrade(tls, isServer: false, settings)
{
    protected override async Task<(UpgradeResult? Failure, UpgradeHead? Head, string? SubProtocol)> ExchangeAsync(
        FrameStream stream, Socket socket, X509Certificate2? certificate, CancellationToken cancellation)
    {
        string key = WebSocketKey.Create();
        string fields = WebSocketRequestFields.Write(Settings.RequestFields, Settings.SubProtocols);
        await stream.WriteAsync(UpgradeRequest.Write(authority, path, key, fields), cancellation).ConfigureAwait(false);
        int length = await ReadHeadAsync(stream, isRequest: false, cancellation).ConfigureAwait(false);
        if (length <= 0)
        {
            return (length == Ended ? Left("the server closed the connection before it answered the request for a WebSocket")
                : Malformed(length == TooLong ? $"the server's answer to the WebSocket upgrade is over {Settings.MaxUpgradeSize} bytes"
                : "the server did not answer the WebSocket upgrade with HTTP"), null, null);
        }

        string? complaint = UpgradeAnswer.Classify(
            stream.Buffered[..length], key, Settings.OfferedSubProtocols, out string? subProtocol);
        stream.Consume(length);
        return (complaint is null ? null : Malformed(complaint), null, subProtocol);
    }
}
