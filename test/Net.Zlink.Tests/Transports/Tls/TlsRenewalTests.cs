using System.Diagnostics;
using System.Security.Cryptography.X509Certificates;
using Microsoft.Extensions.Logging;
using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Transports.Tls;

/// <summary>Certificates that are renewed on disk while the listener runs.</summary>
public sealed class TlsRenewalTests : IDisposable
{
    private readonly Authorities _own = new();
    private DateTime _written = DateTime.UtcNow.AddMinutes(-10);

    public void Dispose() => _own.Dispose();

    [Fact]
    public async Task New_connections_get_the_renewed_certificate_and_old_ones_go_on()
    {
        await using var fixture = new StreamFixture();
        StreamSocket server = Listener(fixture, out string endpoint, _own.CertificateFile, _own.KeyFile);
        (uint first, uint there, StreamSocket client) = await ShownAsync(fixture, server, endpoint, "CN=server");
        Renew("CN=renewed");
        await ShownAsync(fixture, server, endpoint, "CN=renewed");
        await ShownAsync(fixture, server, endpoint, "CN=renewed");
        Assert.True(client.To(there).TrySend("still here"u8));
        Assert.Equal("still here"u8.ToArray(), await server.NextDataAsync(first));
    }

    [Fact]
    public async Task A_half_written_file_keeps_what_was_there_before()
    {
        using var log = new RecordingLoggers();
        await using var fixture = new StreamFixture(log: log);
        StreamSocket server = Listener(fixture, out string endpoint, _own.CertificateFile, _own.KeyFile);
        await ShownAsync(fixture, server, endpoint, "CN=server");
        (string certificate, string key) = _own.WriteFiles("next", _own.Issue("CN=renewed", ["localhost"]));

        // Cut anywhere; then the new certificate with the old key; then nothing at all.
        string text = await File.ReadAllTextAsync(certificate, Guard.Token);
        foreach (int length in new[] { 0, 10, text.Length / 2, text.Length - 2 })
        {
            Touch(_own.CertificateFile, text[..length]);
            await ShownAsync(fixture, server, endpoint, "CN=server");
        }

        Assert.Contains(log.Lines, one => one.Level == LogLevel.Warning
            && one.Text.Contains("changed since, cannot be used (", StringComparison.Ordinal)
            && one.Text.Contains(_own.CertificateFile, StringComparison.Ordinal));
        Assert.Contains($"  {endpoint}: \"{_own.CertificateFile}\" with the key in", server.Describe(), StringComparison.Ordinal);

        Touch(_own.CertificateFile, text);
        await ShownAsync(fixture, server, endpoint, "CN=server");
        File.Delete(_own.KeyFile);
        await ShownAsync(fixture, server, endpoint, "CN=server");
        Touch(_own.KeyFile, await File.ReadAllTextAsync(key, Guard.Token));
        await ShownAsync(fixture, server, endpoint, "CN=renewed");
        Assert.DoesNotContain("changed since", server.Describe(), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("a link")]
    [InlineData("a directory")]
    public async Task What_is_moved_to_other_files_of_the_same_time_and_length_is_noticed(string what)
    {
        Assert.SkipWhen(OperatingSystem.IsWindows(), "NOT TESTED HERE: links need rights on Windows");

        // As Kubernetes does it: certificate -> ..data/certificate, and ..data moves from one folder to the next.
        string folder = _own.Folder;
        foreach (string version in new[] { "one", "two" })
        {
            Directory.CreateDirectory(Path.Combine(folder, version));
            (string certificate, string key) = _own.WriteFiles(version, _own.Issue($"CN={version}", ["localhost"]));
            foreach ((string from, string name) in new[] { (certificate, "tls.crt"), (key, "tls.key") })
            {
                string file = Path.Combine(folder, version, name);
                await File.WriteAllTextAsync(file, (await File.ReadAllTextAsync(from, Guard.Token)).PadRight(8000, '\n'), Guard.Token);
                File.SetLastWriteTimeUtc(file, _written); // As in an image or tar of fixed times.
            }
        }

        if (what is "a link")
        {
            Directory.CreateSymbolicLink(Path.Combine(folder, "..data"), "one");
            Directory.CreateSymbolicLink(Path.Combine(folder, "..next"), "two");
        }
        else
        {
            Directory.Move(Path.Combine(folder, "one"), Path.Combine(folder, "..data"));
            Directory.Move(Path.Combine(folder, "two"), Path.Combine(folder, "..next"));
        }

        File.CreateSymbolicLink(Path.Combine(folder, "tls.crt"), "..data/tls.crt");
        File.CreateSymbolicLink(Path.Combine(folder, "tls.key"), "..data/tls.key");
        await using var fixture = new StreamFixture();
        StreamSocket server = Listener(fixture, out string endpoint, Path.Combine(folder, "tls.crt"), Path.Combine(folder, "tls.key"));
        await ShownAsync(fixture, server, endpoint, "CN=one");
        Directory.Move(Path.Combine(folder, "..data"), Path.Combine(folder, "..last"));
        Directory.Move(Path.Combine(folder, "..next"), Path.Combine(folder, "..data"));
        await ShownAsync(fixture, server, endpoint, "CN=two");
    }

    [Fact]
    public async Task Authorities_are_renewed_too()
    {
        await using var fixture = new StreamFixture();
        StreamSocket server = fixture.Context.CreateStream();
        server.Options.Tls.Certificate = _own.Server;
        server.Options.Tls.RequireClientCertificate = true;
        server.Options.Tls.CaFile = _own.CaFile;
        string endpoint = server.Bind("tls://127.0.0.1:0");
        X509Certificate2 stranger = _own.Other.Server;
        StreamSocket client = fixture.Context.CreateStream();
        client.Options.Tls.VerifyPeer = false;
        client.Options.Tls.Certificate = stranger;
        await client.ConnectAsync(endpoint, Guard.Token).Guarded(); // Complete for the client, then refused.
        await fixture.UntilAsync(() => server.GetStatistics().FailedHandshakes == 1);
        Touch(_own.CaFile, await File.ReadAllTextAsync(_own.Other.CaFile, Guard.Token));
        await client.ConnectAsync(endpoint, Guard.Token).Guarded();
        await server.NextConnectedAsync();
    }

    [Theory]
    [InlineData("tls")]
    [InlineData("wss")]
    public async Task A_half_written_file_of_the_side_that_connects_keeps_what_was_there_before(string scheme)
    {
        await using var fixture = new StreamFixture();
        string authorities = _own.Write("copy.crt", await File.ReadAllTextAsync(_own.CaFile, Guard.Token));
        (string certificate, string key) = _own.WriteFiles("client", _own.Issue("CN=client", ["localhost"]));
        DealerSocket server = fixture.Context.CreateDealer();
        server.Options.Tls.Certificate = _own.Server;
        server.Options.Tls.CaFile = _own.CaFile;
        server.Options.Tls.RequireClientCertificate = true;
        string endpoint = server.Bind($"{scheme}://127.0.0.1:0");
        DealerSocket client = fixture.Context.CreateDealer(new DealerOptions { ReconnectInterval = TimeSpan.FromMilliseconds(1) });
        client.Options.Tls.CaFile = authorities;
        (client.Options.Tls.CertificateFile, client.Options.Tls.KeyFile) = (certificate, key);
        using EventReader monitor = client.ReadEvents(SocketEventTypes.Disconnected);
        client.Connect(endpoint);
        client.Send("first"u8);
        (await server.ReceiveAsync(Guard.Token).Guarded()).Dispose();
        foreach (string path in new[] { authorities, certificate, key })
        {
            Touch(path, "-----BEGIN CERTIF");
        }

        server.Unbind(endpoint);
        await monitor.NextAsync(SocketEventTypes.Disconnected);
        server.Bind(endpoint);
        client.Send("again"u8);
        (await server.ReceiveAsync(Guard.Token).Guarded()).Dispose();
    }

    [Theory]
    [InlineData("tls")]
    [InlineData("wss")]
    public async Task A_file_that_does_not_answer_fails_one_handshake_at_its_deadline_and_the_others_get_what_was_there_before(
        string scheme)
    {
        Assert.SkipWhen(OperatingSystem.IsWindows(), "NOT TESTED HERE: Windows has no named pipes among its files");
        var time = new ManualTimeProvider();
        await using var fixture = new StreamFixture(time: time);
        StreamSocket server = Listener(fixture, out string endpoint, _own.CertificateFile, _own.KeyFile, scheme);
        await ShownAsync(fixture, server, endpoint, "CN=server");
        using EventReader monitor = server.ReadEvents(SocketEventTypes.HandshakeFailedNoDetail);

        // A named pipe is a file whose reader waits for whoever writes it, as one waits for a file system on a network that is gone.
        File.Delete(_own.KeyFile);
        using (Process made = Process.Start("mkfifo", _own.KeyFile))
        {
            await made.WaitForExitAsync(Guard.Token).Guarded();
            Assert.Equal(0, made.ExitCode);
        }

        StreamSocket client = fixture.Context.CreateStream();
        client.Options.Tls.CaFile = _own.CaFile;
        Task<uint> connecting = client.ConnectAsync(endpoint, Guard.Token).AsTask();
        await using (await Task.Run(() => new FileStream(_own.KeyFile, FileMode.Open, FileAccess.Write, FileShare.ReadWrite), Guard.Token)
            .Guarded())
        {
            await ShownAsync(fixture, server, endpoint, "CN=server");
            time.Advance(server.Options.HandshakeInterval);
            Assert.Contains("the TLS handshake was not complete within",
                (await monitor.NextAsync(SocketEventTypes.HandshakeFailedNoDetail)).Detail, StringComparison.Ordinal);
            await Task.WhenAny(connecting).Guarded();
            Assert.True(connecting.IsFaulted);
            await ShownAsync(fixture, server, endpoint, "CN=server");
        }
    }

    private static StreamSocket Listener(StreamFixture fixture, out string endpoint, string certificate, string key, string scheme = "tls")
    {
        StreamSocket server = fixture.Context.CreateStream();
        (server.Options.Tls.CertificateFile, server.Options.Tls.KeyFile) = (certificate, key);
        endpoint = server.Bind($"{scheme}://127.0.0.1:0");
        return server;
    }

    private void Renew(string subject)
    {
        (string certificate, string key) = _own.WriteFiles("next", _own.Issue(subject, ["localhost"]));
        Touch(_own.CertificateFile, File.ReadAllText(certificate));
        Touch(_own.KeyFile, File.ReadAllText(key));
    }

    // Renewals are days apart; a test's are not, and the times of files are only as fine as the system's clock ticks.
    private void Touch(string path, string text)
    {
        File.WriteAllText(path, text);
        File.SetLastWriteTimeUtc(path, _written = _written.AddSeconds(1));
    }

    private static async Task<(uint Here, uint There, StreamSocket Client)> ShownAsync(
        StreamFixture fixture, StreamSocket server, string endpoint, string subject)
    {
        string? shown = null;
        StreamSocket client = fixture.Context.CreateStream();
        client.Options.Tls.Validation = (_, certificate, _, _) =>
        {
            shown = certificate?.Subject;
            return shown is not null;
        };
        uint there = await client.ConnectAsync(endpoint, Guard.Token).Guarded();
        Assert.Equal(subject, shown);
        return (await server.NextConnectedAsync(), there, client);
    }
}
