using Net.Zlink.Interop.Tests.Matrix;
using Net.Zlink.Interop.Tests.Native;
using Net.Zlink.Interop.Tests.Peers;
using Net.Zlink.Interop.Tests.Support;
using Net.Zlink.Tests.Transports.Tls;
using Xunit;

namespace Net.Zlink.Interop.Tests.Scenarios;

/// <summary>The TLS options 95 to 102 at both ends, and what both report where the handshake fails. docs/protocol.md section 18 has the
/// rules.</summary>
public sealed class TlsTests : IDisposable
{
    private static readonly string[] Schemes = ["tls", "wss"];

    // A good binder with a certificate for localhost, 127.0.0.1 and ::1, and a connecter that knows its authority: what each case does to
    // them.
    private static readonly Dictionary<string, Action<Authorities, IPeerSocket, IPeerSocket>> Works = new(StringComparer.Ordinal)
    {
        ["nothing else"] = static (_, _, _) => { },
        ["HostName instead of the endpoint's host"] = static (own, binder, connecter) =>
        {
            Show(binder, own.WriteFiles("else", own.Issue("CN=else", ["elsewhere.example"])));
            connecter.SetOption(NativeOption.TlsHostName, "elsewhere.example");
        },
        ["VerifyPeer off, and everything wrong"] = static (own, binder, connecter) =>
        {
            Show(binder, own.WriteFiles("else", own.Other.Issue("CN=else", ["elsewhere.example"], daysUntilEnd: -1)));
            connecter.SetOption(NativeOption.TlsVerify, 0);
        },
        ["a client certificate"] = static (own, binder, connecter) =>
        {
            Demand(own, binder);
            Show(connecter, own.WriteFiles("client", own.Issue("CN=client", [])));
        },
        ["a key with a password"] = static (own, binder, _) =>
        {
            Show(binder, own.WriteFiles("locked", own.Server, "secret"));
            binder.SetOption(NativeOption.TlsPassword, "secret");
        },
        ["keys with passwords on both sides"] = static (own, binder, connecter) =>
        {
            Demand(own, binder);
            Show(binder, own.WriteFiles("locked", own.Server, "secret"));
            binder.SetOption(NativeOption.TlsPassword, "secret");
            Show(connecter, own.WriteFiles("client", own.Issue("CN=client", []), "other secret"));
            connecter.SetOption(NativeOption.TlsPassword, "other secret");
        },
        ["the system's authorities off beside one of ours"] = static (_, _, connecter) =>
            connecter.SetOption(NativeOption.TlsTrustSystem, 0),
        ["an issuer between, which the binder shows"] = static (own, binder, connecter) =>
        {
            (string root, string chain, string key) = own.WriteChain();
            Show(binder, (chain, key));
            connecter.SetOption(NativeOption.TlsCa, root);
            connecter.SetOption(NativeOption.TlsHostName, "localhost");
        },
    };

    private static readonly Dictionary<string, Action<Authorities, IPeerSocket, IPeerSocket>> Fails = new(StringComparer.Ordinal)
    {
        ["no authority but the system's"] = static (_, _, connecter) => connecter.SetOption(NativeOption.TlsCa, ""),
        ["another authority"] = static (own, _, connecter) => connecter.SetOption(NativeOption.TlsCa, own.Other.CaFile),
        ["another name"] = static (_, _, connecter) => connecter.SetOption(NativeOption.TlsHostName, "elsewhere.example"),
        ["another address"] = static (own, binder, _) =>
            Show(binder, own.WriteFiles("else", own.Issue("CN=else", ["localhost", "127.0.0.2"]))),
        ["expired"] = static (own, binder, _) => Show(
            binder, own.WriteFiles("old", own.Issue("CN=old", ["localhost", "127.0.0.1"], daysUntilEnd: -1))),
        ["not valid yet"] = static (own, binder, _) =>
            Show(binder, own.WriteFiles("new", own.Issue("CN=new", ["localhost", "127.0.0.1"], daysUntilEnd: 400))),
        ["no client certificate"] = static (own, binder, _) => Demand(own, binder),
        ["a client certificate of another authority"] = static (own, binder, connecter) =>
        {
            Demand(own, binder);
            Show(connecter, own.Other.WriteFiles("client", own.Other.Issue("CN=client", [])));
        },
    };

    private readonly Authorities _own = new();

    public static IEnumerable<TheoryDataRow<PeerKind, PeerKind, string, string>> WorkingRows() => Rows(Works.Keys);

    public static IEnumerable<TheoryDataRow<PeerKind, PeerKind, string, string>> FailingRows() => Rows(Fails.Keys);

    public void Dispose() => _own.Dispose();

    [NativeTheory]
    [MemberData(nameof(WorkingRows))]
    public void TLS_options_that_connect_two_native_sockets_connect_ours(
        PeerKind connecterKind, PeerKind binderKind, string scheme, string name)
    {
        using IPeerSocket binder = binderKind.Create(NativeSocketType.Dealer);
        using IPeerSocket connecter = connecterKind.Create(NativeSocketType.Dealer);
        Begin(binder, connecter, scheme, Works[name]);
        connecter.SendText("there");
        Assert.Equal("there", binder.ReceiveText());
        binder.SendText("back");
        Assert.Equal("back", connecter.ReceiveText());
    }

    [NativeTheory]
    [MemberData(nameof(FailingRows))]
    public void TLS_options_that_fail_natively_fail_with_ours_and_raise_the_same_events_at_both_ends(
        PeerKind connecterKind, PeerKind binderKind, string scheme, string name)
    {
        using IPeerSocket binder = binderKind.Create(NativeSocketType.Dealer);
        using IPeerSocket connecter = connecterKind.Create(NativeSocketType.Dealer);
        connecter.SetOption(NativeOption.ReconnectInterval, 10);
        Begin(binder, connecter, scheme, Fails[name]);
        Assert.Equal(["Listening", "Accepted", "HandshakeFailedNoDetail", "Disconnected(3)"],
            binder.EventsUpTo(NativeEventTypes.Disconnected));
        Assert.Equal(["ConnectDelayed", "Connected", "HandshakeFailedNoDetail", "Disconnected(3)"],
            connecter.EventsUpTo(NativeEventTypes.Disconnected));

        // It is tried again, and fails again.
        Assert.Equal(["ConnectRetried", "ConnectDelayed", "Connected", "HandshakeFailedNoDetail", "Disconnected(3)"],
            connecter.EventsUpTo(NativeEventTypes.Disconnected));
        Assert.Equal(["Accepted", "HandshakeFailedNoDetail", "Disconnected(3)"], binder.EventsUpTo(NativeEventTypes.Disconnected));
    }

    private static IEnumerable<TheoryDataRow<PeerKind, PeerKind, string, string>> Rows(IEnumerable<string> names) =>
        from pair in PeerSides.Pairs()
        from scheme in Schemes
        from name in names
        select new TheoryDataRow<PeerKind, PeerKind, string, string>(pair.First, pair.Second, scheme, name);

    private static void Show(IPeerSocket socket, (string CertificateFile, string KeyFile) files)
    {
        socket.SetOption(NativeOption.TlsCert, files.CertificateFile);
        socket.SetOption(NativeOption.TlsKey, files.KeyFile);
    }

    private static void Demand(Authorities own, IPeerSocket binder)
    {
        binder.SetOption(NativeOption.TlsCa, own.CaFile);
        binder.SetOption(NativeOption.TlsRequireClientCert, 1);
    }

    private void Begin(IPeerSocket binder, IPeerSocket connecter, string scheme, Action<Authorities, IPeerSocket, IPeerSocket> change)
    {
        Show(binder, (_own.CertificateFile, _own.KeyFile));
        connecter.SetOption(NativeOption.TlsCa, _own.CaFile);
        change(_own, binder, connecter);
        connecter.Connect(binder.Bind($"{scheme}://127.0.0.1:0"));
    }
}
