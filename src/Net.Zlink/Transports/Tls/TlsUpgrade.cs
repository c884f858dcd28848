using System.Net.Sockets;
using System.Security.Authentication;
using Net.Zlink.Buffers;
using Net.Zlink.Flow;
using Net.Zlink.Monitoring;

namespace Net.Zlink.Transports.Tls;

/// <summary>The TLS handshake of an endpoint, as server or client.</summary>
/// <param name="credentials">The endpoint's certificates.</param>
/// <param name="settings">The endpoint's settings.</param>
/// <param name="host">The name to ask for and check; null: this side listens.</param>
/// <param name="limit">How long it may take; zero: no limit.</param>
internal sealed class TlsUpgrade(TlsCredentials credentials, TlsSettings settings, string? host, TimeSpan limit) : WireUpgrade
{
    /// <inheritdoc/>
    public override string FirstPhase => "the TLS handshake";

    /// <inheritdoc/>
    public override string? Staleness => credentials.Staleness;

    /// <inheritdoc/>
    protected override TimeSpan Limit => limit;

    /// <inheritdoc/>
    public override async Task<UpgradeResult> RunAsync(
        Socket socket, BufferPool pool, TimeProvider time, PeerWait? waits, CancellationToken cancellation)
    {
        (TlsStream? tls, UpgradeResult failure) = await AuthenticateAsync(socket, time, waits, cancellation).ConfigureAwait(false);
        if (tls is null)
        {
            return failure;
        }

        return UpgradeResult.Of(new TlsWire(socket, tls, pool)
        {
            PollingThread = tls.EndHandshake(),
            RemoteCertificate = tls.PeerCertificate
        });
    }

    /// <summary>The handshake alone, for what runs over TLS. The socket belongs to the stream, or is disposed.</summary>
    public async Task<(TlsStream? Tls, UpgradeResult Failure)> AuthenticateAsync(
        Socket socket, TimeProvider time, PeerWait? waits, CancellationToken cancellation)
    {
        var judge = new CertificateValidator(settings, host);
        if (IoStreamErrors.TryOpen(socket, out UpgradeResult failure) is not { } stream)
        {
            return (null, failure);
        }

        (stream.PeerWaits, stream.IsOfTls) = (waits, true);
        var tls = new TlsStream(stream);
        TlsStream? established = null;
        using Deadline deadline = StartPhase(time, cancellation);
        CancellationToken end = deadline.Token;

        // On a stack of its own, and given up where it does not end with its time: the certificates' files are read and the application's
        // callbacks run in it, and one of them may never return.
        Task shaking = HasCallbacks || credentials.MayAskElsewhere(isServer: host is null)
            ? ShakeOnOwnThreadsAsync(stream, tls, judge, end) : Task.Run(() => ShakeAsync(tls, judge, end), CancellationToken.None);
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
#pragma warning disable CA1031 // A user's callback may throw anything; it ends this handshake and nothing else.
        catch (Exception e)
#pragma warning restore CA1031
        {
            return (null, Explain(e, judge.Refusal));
        }
        finally
        {
            if (established is null)
            {
                if (shaking.IsCompleted)
                {
                    await tls.DisposeAsync().ConfigureAwait(false);
                }
                else
                {
                    socket.Dispose();
                    _ = DisposeBehindAsync(shaking, tls);
                }
            }
        }
    }

    /// <summary>Lets go of a session when nobody is at work on it any more: the libraries beneath bear no two threads.</summary>
    private static async Task DisposeBehindAsync(Task shaking, TlsStream tls)
    {
        await shaking.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        await tls.DisposeAsync().ConfigureAwait(false);
    }

    private bool HasCallbacks => (host is null, settings) switch
    {
        (true, { Server: { } users }) => users.RemoteCertificateValidationCallback is not null
            || users.ServerCertificateSelectionCallback is not null,
        (false, { Client: { } users }) => users.RemoteCertificateValidationCallback is not null
            || users.LocalCertificateSelectionCallback is not null,
        _ => settings.Validation is not null,
    };

    /// <summary>As <see cref="ShakeAsync"/>, where callbacks of the application's may sleep in it, or its chain policy waits for somebody
    /// else's server: see <see cref="CallbackThread"/>. It ends on the pool.</summary>
    private async Task ShakeOnOwnThreadsAsync(ReadinessStream stream, TlsStream tls, CertificateValidator judge, CancellationToken end)
    {
        stream.IsOnOwnThreads = true;
        try
        {
            await ThreadHop.ToOwnThread;
            await ShakeAsync(tls, judge, end).ConfigureAwait(false);
        }
        finally
        {
            stream.IsOnOwnThreads = false;
            await ThreadHop.ToPool;
        }
    }

    private Task ShakeAsync(TlsStream tls, CertificateValidator judge, CancellationToken end) => host is null
        ? tls.AuthenticateAsServerAsync(Prepare(() => credentials.ForServer(judge)), end)
        : tls.AuthenticateAsClientAsync(Prepare(() => credentials.ForClient(judge, host)), end);

    private T Prepare<T>(Func<T> make)
    {
        try
        {
            return make();
        }
#pragma warning disable CA1031 // A file may be missing or malformed, and a certificate or policy of the application's anything at all; it ends this handshake and nothing else.
        catch (Exception e)
#pragma warning restore CA1031
        {
            string what = PemFiles.IsOfFiles(e) && settings.Certificate is null ? "the files named in Tls"
                : "the application's TLS options";
            string? named = host is null && PemFiles.IsOfFiles(e) ? credentials.Check() : null; // Which of them, where that is still so.
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
            // Who does not accept a certificate need not say so, and .NET's own client does not.
            UpgradeResult lost = UpgradeResult.Lost(FirstPhase, exception);
            return lost with { Sentence = $"{lost.Sentence}; the peer may not have accepted this side's certificate, or the lack of one" };
        }

        string words = IoStreamErrors.WordsOf(exception);
        if (exception is not AuthenticationException)
        {
            // What a callback in the application's own options threw, or what the library found wrong with these.
            return new UpgradeResult(null, HandshakeFailure.Certificate, error, $"the application's TLS options cannot be used: {words}");
        }

        // OpenSSL's words for what the peer sent; it sends an alert when it is the one that does not accept a certificate.
        if (words.Contains("alert", StringComparison.Ordinal))
        {
            return new UpgradeResult(null, HandshakeFailure.Certificate, error, $"the peer refused the TLS handshake: {words}");
        }

        if (words.Contains("frame size", StringComparison.Ordinal))
        {
            words = $"{words} So what the peer speaks is no TLS: one side's endpoint may be tls or wss, and the other's not.";
        }

        // With options of the application's own it is the base library that judges, in its words.
        bool isCertificate = words.Contains("certificate", StringComparison.OrdinalIgnoreCase);
        return new UpgradeResult(null, isCertificate ? HandshakeFailure.Certificate : HandshakeFailure.Malformed, error,
            $"the TLS handshake failed: {words}");
    }

    /// <summary>This side's own certificates cannot be used; the message says why. Ends a handshake before its first byte.</summary>
    private sealed class CredentialsException(string sentence, Exception inner) : Exception(sentence, inner);
}
