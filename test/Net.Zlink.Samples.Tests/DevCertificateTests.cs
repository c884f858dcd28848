using System.Security.Cryptography.X509Certificates;
using Net.Zlink.Tests.Support;
using Samples;
using Xunit;

namespace Net.Zlink.Samples.Tests;

/// <summary>The certificate that the EchoServer sample makes for development, in a folder of the test's own.</summary>
public sealed class DevCertificateTests : IDisposable
{
    private readonly string _data = Directory.CreateTempSubdirectory("zlink-dev-").FullName;

    private string Folder => Path.Combine(_data, "net-zlink-dev");

    public void Dispose() => Directory.Delete(_data, recursive: true);

    [Fact]
    public async Task A_certificate_beside_the_key_of_another_is_made_anew()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "NOT TESTED HERE: where the user's own folder is cannot be said elsewhere");
        using var one = new TestCertificates();
        using var other = new TestCertificates("CN=somebody else");
        Directory.CreateDirectory(Folder);
        File.Copy(one.CertificateFile, Path.Combine(Folder, "dev.crt"));
        File.Copy(other.KeyFile, Path.Combine(Folder, "dev.key"));
        await using ChildProcess server = Start();
        await ReadyAsync(server);
        AssertIsPair();
        if (OperatingSystem.IsLinux())
        {
            Assert.Equal(UnixFileMode.UserRead | UnixFileMode.UserWrite, File.GetUnixFileMode(Path.Combine(Folder, "dev.key")));
        }
    }

    [Fact]
    public async Task Starts_at_once_share_one_certificate()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "NOT TESTED HERE: where the user's own folder is cannot be said elsewhere");
        ChildProcess[] servers = [Start(), Start(), Start(), Start()];
        try
        {
            foreach (ChildProcess server in servers)
            {
                await ReadyAsync(server);
            }

            AssertIsPair();
        }
        finally
        {
            foreach (ChildProcess server in servers)
            {
                await server.DisposeAsync();
            }
        }
    }

    private static Task<string> ReadyAsync(ChildProcess server) =>
        server.ReadLineAsync("READY tls://");

    private ChildProcess Start() => Programs.Sample("EchoServer", "--dev-cert", "-e", "tls://127.0.0.1:0", "--quiet")
        .With("XDG_DATA_HOME", _data).Start();

    private void AssertIsPair()
    {
        using X509Certificate2 certificate = X509Certificate2.CreateFromPemFile(
            Path.Combine(Folder, "dev.crt"), Path.Combine(Folder, "dev.key"));
        Assert.True(certificate.HasPrivateKey);
    }
}
