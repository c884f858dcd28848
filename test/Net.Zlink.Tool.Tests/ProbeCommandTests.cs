using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tool.Tests;

public sealed class ProbeCommandTests
{
    [Fact]
    public async Task A_probe_names_the_type_of_the_socket()
    {
        await using var context = new ZlinkContext();
        foreach ((ZlinkSocket socket, string type) in ((ZlinkSocket, string)[])
            [
                (context.CreateRouter(), "ROUTER"), (context.CreatePub(), "PUB"), (context.CreateXPub(), "XPUB"),
                (context.CreatePair(), "PAIR"),
            ])
        {
            (int code, string output, string errors) = await ToolFixture.RunAsync("probe", socket.Bind("tcp://127.0.0.1:*"));
            Assert.Equal((0, ""), (code, errors));
            Assert.Matches($"^speaks       ZMP, as a socket of the type {type}\nhandshake    [0-9.]+ ms\n$", output);
        }
    }

    [Fact]
    public async Task A_probe_shows_a_certificate_that_is_not_trusted()
    {
        using var certificates = new TestCertificates();
        await using var context = new ZlinkContext();
        RouterSocket socket = context.CreateRouter();
        socket.Options.Tls.CertificateFile = certificates.CertificateFile;
        socket.Options.Tls.KeyFile = certificates.KeyFile;
        string endpoint = socket.Bind("tls://127.0.0.1:*");
        (int code, string output, string errors) = await ToolFixture.RunAsync("probe", endpoint);
        Assert.Equal(ExitCode.Failed, code);
        Assert.Contains("certificate  CN=", output, StringComparison.Ordinal);
        Assert.Contains("not trusted", output, StringComparison.Ordinal);
        Assert.Contains("no zlink socket answers", errors, StringComparison.Ordinal);
        (code, output, _) = await ToolFixture.RunAsync("probe", endpoint, "--insecure");
        Assert.Equal(0, code);
        Assert.Contains("ROUTER", output, StringComparison.Ordinal);
        (code, output, _) = await ToolFixture.RunAsync("probe", endpoint, "--ca", certificates.CaFile);
        Assert.Equal(0, code);
        Assert.Contains("it is trusted", output, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_probe_says_why_nothing_answers()
    {
        (int code, _, string errors) = await ToolFixture.RunAsync("probe", "tcp://127.0.0.1:1");
        Assert.Equal(ExitCode.Failed, code);
        Assert.Contains("no process listens at 127.0.0.1:1", errors, StringComparison.Ordinal);
        await using var context = new ZlinkContext();
        (code, _, errors) = await ToolFixture.RunAsync("probe", context.CreateStream().Bind("tcp://127.0.0.1:*"));
        Assert.Equal(ExitCode.Failed, code);
        Assert.Contains("STREAM", errors, StringComparison.Ordinal);
    }
}
