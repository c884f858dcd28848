using System.Globalization;
using System.Net.Security;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Net.Zlink.Monitoring;

namespace Net.Zlink.Transports.Tls;

internal sealed class CertificateValidator(TlsOptions settings, string? host)
{
    public string? Refusal { get; private set; }

    public bool Accepts(object sender, X509Certificate? certificate, X509Chain? chain, SslPolicyErrors errors)
    {
        bool isServer = host is null;
        if (isServer && certificate is null && !settings.RequireClientCertificate)
        {
            return true;
        }

        if (settings.Validation is { } users)
        {
            try
            {
                Refusal = CallbackThread.Run(() => users(sender, certificate, chain, errors)) ? null
                    : $"the application's own check refused the certificate{Quote(certificate)}";
            }
            catch (Exception e)
            {
                Refusal = $"the application's own check of the certificate{Quote(certificate)} threw {e.GetType().Name}: "
                    + $"{ExceptionText.MessageOf(e)}";
            }

            return Refusal is null;
        }

        if (errors == SslPolicyErrors.None || (!isServer && !settings.VerifyPeer))
        {
            return true;
        }

        Refusal = Explain(certificate, chain, errors);
        return false;
    }

    private string Explain(X509Certificate? certificate, X509Chain? chain, SslPolicyErrors errors)
    {
        if (certificate is null || errors.HasFlag(SslPolicyErrors.RemoteCertificateNotAvailable))
        {
            return host is null ? "the client sent no certificate, but one is required" : "the server sent no certificate";
        }

        if (errors.HasFlag(SslPolicyErrors.RemoteCertificateChainErrors))
        {
            return $"the certificate{Quote(certificate)} {string.Join(", and ", FaultsOf(certificate, chain))}";
        }

        try
        {
            return $"the certificate{Quote(certificate)} is not for \"{host}\" but for {NamesIn(certificate)}; set Tls.HostName to the "
                + $"server's name";
        }
        catch (CryptographicException)
        {
            return $"the certificate{Quote(certificate)} is not for \"{host}\": its alternative names (subjectAltName) are malformed; "
                + $"the server needs a new certificate";
        }
    }

    private static IEnumerable<string> FaultsOf(X509Certificate certificate, X509Chain? chain)
    {
        X509ChainStatusFlags all = (chain?.ChainStatus ?? []).Aggregate(
            X509ChainStatusFlags.NoError, static (found, one) => found | one.Status);
        if (all.HasFlag(X509ChainStatusFlags.NotTimeValid))
        {
            yield return $"is not valid now: it is from {DatesOf(certificate)}";
        }

        if ((all & (X509ChainStatusFlags.UntrustedRoot | X509ChainStatusFlags.PartialChain)) != X509ChainStatusFlags.NoError)
        {
            yield return $"is issued by {EndpointError.Quote(certificate.Issuer)}, which this side does not trust; name the authority's "
                + $"file in Tls.CaFile";
        }

        const X509ChainStatusFlags Reported = X509ChainStatusFlags.NotTimeValid | X509ChainStatusFlags.UntrustedRoot
            | X509ChainStatusFlags.PartialChain;
        if ((all & ~Reported) != X509ChainStatusFlags.NoError || all == X509ChainStatusFlags.NoError)
        {
            yield return $"was not accepted: {all & ~Reported}";
        }
    }

    private static string DatesOf(X509Certificate certificate) => certificate is X509Certificate2 dated
        ? string.Create(CultureInfo.InvariantCulture, $"{dated.NotBefore.ToUniversalTime():u} to {dated.NotAfter.ToUniversalTime():u}")
        : $"{certificate.GetEffectiveDateString()} to {certificate.GetExpirationDateString()}";

    // An unknown peer's text: quoted, so that it adds no line to a log, and cut.
    private static string Quote(X509Certificate? certificate) => certificate is null ? "" : $" {EndpointError.Quote(certificate.Subject)}";

    private static string NamesIn(X509Certificate certificate)
    {
        IEnumerable<X509Extension> extensions = (certificate as X509Certificate2)?.Extensions ?? [];
        List<string> names = [.. extensions.OfType<X509SubjectAlternativeNameExtension>().SelectMany(static one =>
            one.EnumerateDnsNames().Concat(one.EnumerateIPAddresses().Select(static address => address.ToString())))];
        const int MostNames = 5;
        return names.Count == 0 ? "no name at all"
            : string.Join(", ", names.Take(MostNames).Select(static name => EndpointError.Quote(name)))
            + (names.Count > MostNames ? " and others" : "");
    }
}
