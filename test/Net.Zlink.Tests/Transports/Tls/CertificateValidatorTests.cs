using System.Globalization;
using System.Net.Security;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Net.Zlink.Tests.Support;
using Net.Zlink.Transports.Tls;
using Xunit;

namespace Net.Zlink.Tests.Transports.Tls;

public sealed class CertificateValidatorTests
{
    [Fact]
    public void Text_of_a_certificate_adds_no_line_to_a_log_and_at_most_500_characters()
    {
        using ECDsa key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var name = new X500DistinguishedNameBuilder();
        name.AddCommonName($"x\n2026-01-01 forged line {new string('y', 1_000)}");
        var request = new CertificateRequest(name.Build(), key, HashAlgorithmName.SHA256);
        var names = new SubjectAlternativeNameBuilder();
        names.AddDnsName(string.Join('.', Enumerable.Repeat(new string('z', 60), 4)));
        request.CertificateExtensions.Add(names.Build());
        using X509Certificate2 certificate = request.CreateSelfSigned(DateTimeOffset.UnixEpoch, DateTimeOffset.UnixEpoch.AddYears(1));
        using var chain = new X509Chain
        {
            ChainPolicy =
            { RevocationMode = X509RevocationMode.NoCheck, DisableCertificateDownloads = true }
        };
        Assert.False(chain.Build(certificate));
        foreach (SslPolicyErrors errors in (SslPolicyErrors[])[SslPolicyErrors.RemoteCertificateChainErrors,
            SslPolicyErrors.RemoteCertificateNameMismatch])
        {
            var judge = new CertificateValidator(new TlsOptions(), "localhost");
            judge.Accepts(this, certificate, chain, errors);
            Assert.DoesNotContain(judge.Refusal!, char.IsControl);
            Assert.InRange(judge.Refusal!.Length, 1, 500);
        }
    }

    [Fact]
    public void When_a_certificate_is_valid_is_said_in_UTC_and_alike_in_every_culture()
    {
        // Made by hand, since a machine may know no culture but the invariant one.
        var culture = (CultureInfo)CultureInfo.InvariantCulture.Clone();
        culture.DateTimeFormat.ShortDatePattern = "dd.MM.yy";
        culture.DateTimeFormat.LongTimePattern = "HH.mm";
        using ECDsa key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var request = new CertificateRequest("CN=old", key, HashAlgorithmName.SHA256);
        using X509Certificate2 certificate = request.CreateSelfSigned(
            new DateTimeOffset(2020, 1, 2, 3, 4, 5, TimeSpan.FromHours(5)),
            new DateTimeOffset(2021, 2, 3, 4, 5, 6, TimeSpan.FromHours(-5)));
        using var chain = new X509Chain
        {
            ChainPolicy =
            { RevocationMode = X509RevocationMode.NoCheck, DisableCertificateDownloads = true }
        };
        Assert.False(chain.Build(certificate));
        var judge = new CertificateValidator(new TlsOptions(), "localhost");
        var thread = new Thread(() =>
        {
            CultureInfo.CurrentCulture = culture;
            judge.Accepts(this, certificate, chain, SslPolicyErrors.RemoteCertificateChainErrors);
        });
        thread.Start();
        thread.JoinGuarded();
        Assert.StartsWith("the certificate \"CN=old\" is not valid now: it is from 2020-01-01 22:04:05Z to 2021-02-03 09:05:06Z, and ",
            judge.Refusal, StringComparison.Ordinal);
    }
}
