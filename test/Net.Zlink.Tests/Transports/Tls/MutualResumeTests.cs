using System.Globalization;
using Net.Zlink.Tests.Support;
using Samples;
using Xunit;

namespace Net.Zlink.Tests.Transports.Tls;

/// <summary>A resumed session holds the client's certificate, and not those of its issuers that came with it. Against OpenSSL's client,
/// which resumes where it is let.</summary>
public sealed class MutualResumeTests : IDisposable
{
    private readonly Authorities _own = new();

    public void Dispose() => _own.Dispose();

    [Theory]
    [InlineData("-tls1_2")]
    [InlineData("-tls1_3")]
    public async Task A_client_whose_chain_has_one_between_may_connect_again_with_its_session(string version)
    {
        Assert.SkipUnless(Programs.Find("openssl") is not null, "NOT TESTED HERE: the program openssl is not installed");
        await using var fixture = new StreamFixture();
        StreamSocket server = fixture.Context.CreateStream();
        server.Options.Tls.Certificate = _own.Server;
        server.Options.Tls.RequireClientCertificate = true;
        (server.Options.Tls.CaFile, _, _) = _own.WriteChain();
        string port = new Uri(server.Bind("tls://127.0.0.1:0")).Port.ToString(CultureInfo.InvariantCulture);
        string session = Path.Combine(_own.Folder, "session.pem");
        for (int i = 0; i < 2; i++)
        {
            // It is not there where no session can be resumed.
            string[] resumes = File.Exists(session) ? ["-sess_in", session] : ["-sess_out", session];
            await using var client = ChildProcess.StartForBytes(Programs.Installed(
                "openssl", _own.Folder, ["s_client", "-connect", $"127.0.0.1:{port}", version, "-CAfile", "ca.crt", "-cert", "chain.crt",
                    "-cert_chain", "chain.crt", "-key", "chain.key", "-quiet", .. resumes]));
            uint id = await server.NextConnectedAsync();
            Assert.True(server.To(id).TrySend("behind the tickets"u8));
            byte[] back = new byte[Wire.HeaderSize + "behind the tickets"u8.Length];
            await client.Output.ReadExactlyAsync(back, Guard.Token).Guarded();
            server.Disconnect(id);
            Assert.Equal(id, (await server.NextDisconnectedAsync()).PeerId);
            Assert.Equal(0, await client.Output.ReadAsync(new byte[1], Guard.Token).Guarded());
        }
    }
}
