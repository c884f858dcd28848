using Net.Zlink.Tests.Support;
using Net.Zlink.Tests.Transports.Tls;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour.Fixtures;

/// <summary>The transports that a behaviour must be the same over, and endpoints of theirs that nobody else uses.</summary>
internal static class Link
{
    public const string Tcp = "tcp";
    public const string Ipc = "ipc";
    public const string Inproc = "inproc";
    public const string Ws = "ws";
    public const string Wss = "wss";
    public const string Tls = "tls";

    public static TheoryData<string> All => [Tcp, Ipc, Inproc];

    /// <summary>Those whose sockets need certificates, too: a test of these calls <see cref="Prepare"/>.</summary>
    public static TheoryData<string> Everything => [Tcp, Ipc, Inproc, Ws, Wss, Tls];

    public static TheoryData<string> Secure => [Tls, Wss];

    public static TheoryData<string> Wires => [Tcp, Ipc];

    public static TheoryData<string> TcpAndInproc => [Tcp, Inproc];

    /// <summary>An endpoint to bind; Bind returns the one to connect to.</summary>
    public static string Any(string transport) => transport switch
    {
        Tcp => "tcp://127.0.0.1:0",
        Ipc => "ipc://*",
        Ws => "ws://127.0.0.1:*",
        Wss => "wss://127.0.0.1:*",
        Tls => "tls://127.0.0.1:*",
        _ => $"inproc://{Guid.NewGuid():N}",
    };

    /// <summary>Gives the side that binds its certificate, and the side that connects the authority to trust, where the transport wants
    /// that.</summary>
    public static void Prepare(string transport, StreamFixture fixture, ZmpSocket server, ZmpSocket client)
    {
        if (transport is Tls or Wss)
        {
            Authorities files = fixture.Own(new Authorities());
            server.Certificate(files.CertificateFile, files.KeyFile);
            client.Authority(files.CaFile).TrustSystem(false);
        }
    }
}
