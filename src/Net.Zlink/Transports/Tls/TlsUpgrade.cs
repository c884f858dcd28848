using System.Net.Sockets;
using System.Security.Authentication;
using Net.Zlink.Buffers;
using Net.Zlink.Flow;
using Net.Zlink.Monitoring;

namespace Net.Zlink.Transports.Tls;

internal sealed class TlsUpgrade(TlsCredentials credentials, TlsOptions settings, string? host, TimeSpan limit) : WireUpgrade
{
    public override string FirstPhase => "the TLS handshake";

    public override string? Staleness => credentials.Staleness;

    protected override TimeSpan Limit => limit;

    /// <summary>Returns what is wrong with the certificates, or null.</summary>
    public static string? CreateServer(TransportSettings settings, out TlsUpgrade upgrade)
    {
        var credentials = new TlsCredentials(settings.Tls);
        upgrade = new TlsUpgrade(credentials, settings.Tls, host: null, settings.HandshakeTimeout);
        return credentials.Check();
    }

    public static TlsUpgrade CreateClient(TransportSettings settings, string host) => new(
        new TlsCredentials(settings.Tls), settings.Tls, settings.Tls.HostName.Length > 0 ? settings.Tls.HostName : host,
        settings.HandshakeTimeout);

    public override async Task<UpgradeResult> RunAsync(
        SocketWire raw, BufferPool pool, TimeProvider time, PeerWait? waits, CancellationToken cancellation)
    {
        (TlsStream? tls, UpgradeResult failure) =
            await AuthenticateAsync(raw.Socket, pool, time, waits, cancellation).ConfigureAwait(false);
        if (tls is null)
        {
            return failure;
        }

        return UpgradeResult.Of(new TlsWire(raw.Socket, raw.Transport, tls, pool)
        {
            PollingThread = tls.Inner.EndHandshake(),
            RemoteCertificate = tls.PeerCertificate,
            Tls = new TlsSession(tls)
        });
    }

    public async Task<(TlsStream? Tls, UpgradeResult Failure)> AuthenticateAsync(
        Socket socket, BufferPool pool, TimeProvider time, PeerWait? waits, CancellationToken cancellation)
    {
        var judge = new CertificateValidator(settings, host);
        if (TryOpen(socket, pool, out UpgradeResult failure) is not { } stream)
        {
            return (null, failure);
        }

        (stream.PeerWaits, stream.IsOfTls) = (waits, true);
        var tls = new TlsStream(stream);
        TlsStream? established = null;
        using Deadline deadline = StartPhase(time, cancellation);
        CancellationToken end = deadline.Token;

        // On a stack of its own and with a time limit: files are read and callbacks run in it, and one of them may never return.
        Task shaking = HasApplicationParts
            ? HandshakeOnOwnThreadsAsync(stream, tls, judge, end) : Task.Run(() => HandshakeAsync(tls, judge, end), CancellationToken.None);
        try
        {
            await shaking.WaitAsync(end).ConfigureAwait(false);
            established = tls;
            tls.BeginSession();
            return (tls, default);
        }
        catch (Exception e) when (cancellation.IsCancellationRequested || deadline.IsOver)
        {
            return (null, ResultOf(FirstPhase, e, deadline, cancellation));
        }
        catch (Exception e)
        {
            return (null, Explain(e, judge.Refusal));
        }
        finally
        {
            if (established is null)
            {
                if (!shaking.IsCompleted)
                {
                    socket.Dispose();
                }

                _ = DisposeBehindAsync(shaking, tls);
            }
        }
    }

    private static async Task DisposeBehindAsync(Task shaking, TlsStream tls)
    {
        await shaking.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        await tls.DisposeAsync().ConfigureAwait(false);
    }

    /// <summary>Its callbacks may block, and its policies may ask servers that a peer's certificate names.</summary>
    private bool HasApplicationParts => settings.Validation is not null || settings.ChainPolicy is not null
        || (host is null ? settings.Server is not null : settings.Client is not null);

    private async Task HandshakeOnOwnThreadsAsync(WireStream stream, TlsStream tls, CertificateValidator judge, CancellationToken end)
    {
        stream.IsOnOwnThreads = true;
        try
        {
            await ThreadHop.ToOwnThread;
            await HandshakeAsync(tls, judge, end).ConfigureAwait(false);
        }
        finally
        {
            stream.IsOnOwnThreads = false;
            await ThreadHop.ToPool;
        }
    }

    private Task HandshakeAsync(TlsStream tls, CertificateValidator judge, CancellationToken end) => host is null
        ? tls.AuthenticateAsServerAsync(Prepare(() => credentials.ForServer(judge)), end)
        : tls.AuthenticateAsClientAsync(Prepare(() => credentials.ForClient(judge, host)), end);

    private T Prepare<T>(Func<T> make)
    {
        try
        {
            return make();
        }
        catch (Exception e)
        {
            string what = PemFiles.IsOfFiles(e) && settings.Certificate is null ? "the files named in Tls"
                : "the application's TLS options";
            string? named = host is null && PemFiles.IsOfFiles(e) ? credentials.Check() : null;
            throw new CredentialsException(named ?? $"{what} cannot be used: {ExceptionText.MessageOf(e)}", e);
        }
    }

    private UpgradeResult Explain(Exception exception, string? refusal)
    {
        SocketError error = IoStreamErrors.ErrorOf(exception);
        if (refusal is not null)
        {
            return new UpgradeResult(null, HandshakeFailure.Certificate, error, refusal);
        }

        if (exception is CredentialsException)
        {
            return new UpgradeResult(null, HandshakeFailure.Certificate, SocketError.InvalidArgument, exception.Message);
        }

        if (exception is IOException or SocketException or ObjectDisposedException)
        {
            UpgradeResult lost = UpgradeResult.Lost(FirstPhase, exception);
            return lost with { Sentence = $"{lost.Sentence}; the peer may have rejected this side's certificate, or its absence" };
        }

        string words = IoStreamErrors.WordsOf(exception);
        if (exception is not AuthenticationException)
        {
            return new UpgradeResult(null, HandshakeFailure.Certificate, error, $"the application's TLS options cannot be used: {words}");
        }

        if (words.Contains("alert", StringComparison.Ordinal))
        {
            return new UpgradeResult(null, HandshakeFailure.Certificate, error, $"the peer refused the TLS handshake: {words}");
        }

        if (words.Contains("frame size", StringComparison.Ordinal))
        {
            words = $"{words} So the peer does not speak TLS: one side's endpoint may be tls or wss, and the other's not.";
        }

        bool isCertificate = words.Contains("certificate", StringComparison.OrdinalIgnoreCase);
        return new UpgradeResult(null, isCertificate ? HandshakeFailure.Certificate : HandshakeFailure.Malformed, error,
            $"the TLS handshake failed: {words}");
    }

    private sealed class CredentialsException(string sentence, Exception inner) : Exception(sentence, inner);
}
