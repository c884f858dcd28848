using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Net.Zlink.Tests.Transports.Tls;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>
/// As the native test_asio_ssl, and what was tried out with the native core beside it: who gets in over tls and wss, with which options,
/// and who does not. The plumbing below, which that program tests first, is SslStream here.
/// </summary>
public sealed class AsioSslTests
{
    private const string Password = "open sesame";

    [Theory]
    [MemberData(nameof(Link.Secure), MemberType = typeof(Link))]
    public async Task A_client_that_trusts_the_authority_gets_in_by_address(string transport) =>
        await GetsInAsync(transport, "127.0.0.1", static (client, files) => client.Authority(files.CaFile));

    [Theory]
    [MemberData(nameof(Link.Secure), MemberType = typeof(Link))]
    public async Task A_client_that_trusts_the_authority_gets_in_by_name(string transport) =>
        await GetsInAsync(transport, "localhost", static (client, files) => client.Authority(files.CaFile));

    [Theory]
    [MemberData(nameof(Link.Secure), MemberType = typeof(Link))]
    public async Task A_host_name_set_takes_the_place_of_the_endpoints(string transport)
        => await GetsInAsync(transport, "127.0.0.1",
            static (client, files) => client.Authority(files.CaFile).HostName("localhost").TrustSystem(false));

    [Theory]
    [MemberData(nameof(Link.Secure), MemberType = typeof(Link))]
    public async Task A_client_that_does_not_verify_gets_in_without_an_authority(string transport) =>
        await GetsInAsync(transport, "127.0.0.1", static (client, _) => client.Verify(false));

    [Theory]
    [MemberData(nameof(Link.Secure), MemberType = typeof(Link))]
    public async Task A_client_that_trusts_nobody_is_kept_out(string transport) =>
        await IsKeptOutAsync(transport, static (client, _) => client.TrustSystem(false));

    [Theory]
    [MemberData(nameof(Link.Secure), MemberType = typeof(Link))]
    public async Task A_client_that_trusts_the_system_only_is_kept_out(string transport) =>
        await IsKeptOutAsync(transport, static (_, _) => { });

    [Theory]
    [MemberData(nameof(Link.Secure), MemberType = typeof(Link))]
    public async Task A_client_that_trusts_another_authority_is_kept_out(string transport) =>
        await IsKeptOutAsync(transport, static (client, files) => client.Authority(files.Other.CaFile));

    [Theory]
    [MemberData(nameof(Link.Secure), MemberType = typeof(Link))]
    public async Task A_client_that_expects_another_name_is_kept_out(string transport)
        => await IsKeptOutAsync(transport, static (client, files) => client.Authority(files.CaFile).HostName("example.invalid"));

    [Theory]
    [MemberData(nameof(Link.Secure), MemberType = typeof(Link))]
    public async Task A_client_with_a_certificate_gets_in_where_one_is_required(string transport)
        => await GetsInAsync(transport, "127.0.0.1",
            static (client, files) =>
            {
                (string certificate, string key) = files.WriteFiles("client", files.Issue("CN=client", []));
                client.Authority(files.CaFile).Certificate(certificate, key);
            },
            isMutual: true);

    [Theory]
    [MemberData(nameof(Link.Secure), MemberType = typeof(Link))]
    public async Task A_client_without_a_certificate_is_kept_out_where_one_is_required(string transport)
        => await IsKeptOutAsync(transport, static (client, files) => client.Authority(files.CaFile), isMutual: true);

    [Theory]
    [MemberData(nameof(Link.Secure), MemberType = typeof(Link))]
    public async Task A_key_with_a_password_is_opened_with_it(string transport)
    {
        await using var fixture = new StreamFixture();
        Authorities files = fixture.Own(new Authorities());
        PairSocket server = fixture.Context.CreatePair()
            .Certificate(files.CertificateFile, files.WriteFiles("locked", files.Server, Password).KeyFile, Password);
        PairSocket client = fixture.Context.CreatePair().Authority(files.CaFile);
        client.Connect(server.Bind(Link.Any(transport)));
        await SocketWords.BounceAsync(server, client);
    }

    [Theory]
    [MemberData(nameof(Link.Secure), MemberType = typeof(Link))]
    public async Task A_bind_without_a_certificate_or_with_unreadable_files_is_refused(string transport)
    {
        await using var fixture = new StreamFixture();
        Authorities files = fixture.Own(new Authorities());
        SocketWords.Fails("EINVAL", () => fixture.Context.CreatePair().Bind(Link.Any(transport)));
        SocketWords.Fails("EINVAL", () => fixture.Context.CreatePair()
            .Certificate(files.CertificateFile, files.CertificateFile + ".missing").Bind(Link.Any(transport)));
        SocketWords.Fails("EINVAL", () => fixture.Context.CreatePair().Certificate(files.CertificateFile, files.CaFile)
            .Bind(Link.Any(transport)));
        string locked = files.WriteFiles("locked", files.Server, Password).KeyFile;
        SocketWords.Fails("EINVAL", () => fixture.Context.CreatePair().Certificate(files.CertificateFile, locked, "wrong")
            .Bind(Link.Any(transport)));
    }

    [Theory]
    [MemberData(nameof(Link.Secure), MemberType = typeof(Link))]
    public async Task A_connect_with_an_unreadable_authority_is_taken_and_retried(string transport) =>
        await IsKeptOutAsync(transport, static (client, files) => client.Authority(files.CaFile + ".missing"));

    private static async Task GetsInAsync(string transport, string host, Action<PairSocket, Authorities> prepare,
        bool isMutual = false)
    {
        await using var fixture = new StreamFixture();
        Authorities files = fixture.Own(new Authorities());
        (PairSocket server, PairSocket client) = Pair(fixture, files, isMutual);
        prepare(client, files);
        client.Connect(server.Bind(Link.Any(transport)).Replace("127.0.0.1", host, StringComparison.Ordinal));
        await SocketWords.BounceAsync(server, client);
    }

    /// <summary>It tries, fails, and tries again; the server never has a peer.</summary>
    private static async Task IsKeptOutAsync(string transport, Action<PairSocket, Authorities> prepare, bool isMutual = false)
    {
        await using var fixture = new StreamFixture();
        Authorities files = fixture.Own(new Authorities());
        (PairSocket server, PairSocket client) = Pair(fixture, files, isMutual);
        prepare(client, files);
        using EventReader monitor = client.ReadEvents(SocketEventTypes.ConnectRetried | SocketEventTypes.ConnectionReady);
        client.Connect(server.Bind(Link.Any(transport)));
        Assert.Equal([SocketEventTypes.ConnectRetried, SocketEventTypes.ConnectRetried], await monitor.NextAsync(2));
        Assert.Equal(0, server.PeerCount);
    }

    private static (PairSocket Server, PairSocket Client) Pair(StreamFixture fixture, Authorities files, bool isMutual)
    {
        PairSocket server = fixture.Context.CreatePair().Certificate(files.CertificateFile, files.KeyFile);
        if (isMutual)
        {
            server.Authority(files.CaFile).RequireClientCertificate();
        }

        return (server, fixture.Context.CreatePair(new PairOptions { ReconnectInterval = TimeSpan.FromMilliseconds(1) }));
    }
}
