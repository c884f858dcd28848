using System.Net;
using System.Net.Sockets;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Extensions.Tests;

/// <summary>What sockets say of endpoints with user information, queries and fragments when something fails.</summary>
public sealed class SocketSecretTests
{
    private static readonly string[] AllKinds =
    [
        "tcp://127.0.0.1:1", "tls://127.0.0.1:1", "ws://127.0.0.1:1/p", "wss://127.0.0.1:1/p", "amqp://127.0.0.1:1", "TCP://127.0.0.1:1",
        "127.0.0.1:1", "tcp:/127.0.0.1:1", "tcp://127.0.0.1:x", "tcp://tcp://127.0.0.1:1", "ws://*:1/p", "ws://127.0.0.1/p", "://", "",
    ];

    [Fact]
    public Task Endpoints_that_are_refused_show_no_secret() => SecretWatch.RunAsync(static async watch =>
    {
        RouterSocket router = watch.Monitored(watch.Context.CreateRouter());
        StreamSocket stream = watch.Monitored(watch.Context.CreateStream());
        foreach (string endpoint in watch.Planted(AllKinds))
        {
            watch.Try(() => watch.See(ZlinkEndpoint.Parse(endpoint)));
            watch.Try(() => router.Bind(endpoint));
            watch.Try(() => router.Connect(endpoint));
            watch.Try(() => router.Unbind($"{endpoint}x"));
            watch.Try(() => router.Disconnect($"{endpoint}x"));
            watch.Try(() => stream.Bind(endpoint));
            watch.Try(() => stream.Unbind($"{endpoint}x"));
            watch.Try(() => stream.Disconnect($"{endpoint}x"));
            await watch.TryAsync(async () => await stream.ConnectAsync(endpoint, Guard.Token));
            watch.See(new RedactedEndpoint(endpoint));
        }

        watch.See(router.Describe());
        watch.See(stream.Describe());
    });

    [Fact]
    public Task A_bind_at_a_port_in_use_shows_no_secret() => SecretWatch.RunAsync(static watch =>
    {
        using PairSocket first = watch.Context.CreatePair();
        string bound = first.Bind(watch.Query("ws://127.0.0.1:*/p"));
        RouterSocket second = watch.Monitored(watch.Context.CreateRouter());
        StreamSocket stream = watch.Monitored(watch.Context.CreateStream());
        watch.Try(() => second.Bind(bound));
        watch.Try(() => first.Bind(bound));
        watch.Try(() => stream.Bind(bound));
        watch.See(first.Describe());
        return Task.CompletedTask;
    });

    [Fact]
    public Task A_connection_that_is_refused_shows_no_secret() => SecretWatch.RunAsync(static async watch =>
    {
        string endpoint = watch.Query($"{NobodyAt("ws")}/p");
        DealerSocket dealer = watch.Monitored(watch.Context.CreateDealer(new DealerOptions
        {
            ReconnectInterval = TimeSpan.FromMilliseconds(1),
            SendTimeout = TimeSpan.FromMilliseconds(20),
        }));
        dealer.Connect(endpoint);
        await watch.UntilSeenAsync("cannot connect");
        watch.Try(() => dealer.Connect(endpoint));
        watch.Try(() => dealer.Receive(TimeSpan.FromMilliseconds(1)).Dispose());
        await watch.TryAsync(() => dealer.SendAsync("lost", Guard.Token).AsTask());
        Assert.All(dealer.GetPeers(), watch.See);
        watch.See(dealer.GetStatistics());
        watch.See(dealer.Describe());
        StreamSocket stream = watch.Monitored(watch.Context.CreateStream());
        await watch.TryAsync(async () => await stream.ConnectAsync(endpoint, Guard.Token));
        await watch.TryAsync(async () => await stream.ConnectPipeAsync(endpoint, Guard.Token));
        watch.See(stream.Describe());
    });

    [Theory]
    [InlineData(404)]
    [InlineData(403)]
    [InlineData(503)]
    public Task An_upgrade_that_is_refused_shows_no_secret(int status) => SecretWatch.RunAsync(async watch =>
    {
        var options = new RouterOptions();
        if (status == 404)
        {
            options.WebSocket.AllowedPaths.Add("/other");
        }
        else if (status == 403)
        {
            options.WebSocket.AllowedOrigins.Add("https://other.example");
        }
        else
        {
            options.WebSocket.Admission = static (_, _) => throw new InvalidOperationException("The admission failed.");
        }

        RouterSocket router = watch.Monitored(watch.Context.CreateRouter(options));
        string bound = router.Bind(watch.Query("ws://127.0.0.1:*/p"));
        var client = new DealerOptions();
        client.WebSocket.RequestFields["Origin"] = "https://evil.example";
        DealerSocket dealer = watch.Monitored(watch.Context.CreateDealer(client));
        dealer.Connect(bound);
        await watch.UntilSeenAsync("HandshakeFailed");
        Assert.All(dealer.GetPeers(), watch.See);
        watch.See(dealer.Describe());
        watch.See(router.Describe());
        StreamSocket stream = watch.Monitored(watch.Context.CreateStream());
        await watch.TryAsync(async () => await stream.ConnectAsync(bound, Guard.Token));
    });

    [Fact]
    public Task A_tls_handshake_that_fails_shows_no_secret() => SecretWatch.RunAsync(static async watch =>
    {
        using var certificates = new TestCertificates();
        var options = new RouterOptions();
        (options.Tls.CertificateFile, options.Tls.KeyFile) = (certificates.CertificateFile, certificates.KeyFile);
        RouterSocket router = watch.Monitored(watch.Context.CreateRouter(options));
        string secure = router.Bind(watch.Query("wss://127.0.0.1:*/p"));
        string plain = router.Bind(watch.Query("ws://127.0.0.1:*/p"));
        DealerSocket dealer = watch.Monitored(watch.Context.CreateDealer());
        dealer.Connect(secure); // It trusts nobody.
        await watch.UntilSeenAsync("does not trust");
        dealer.Connect(plain.Replace("ws://", "wss://", StringComparison.Ordinal));
        dealer.Connect(secure.Replace("wss://", "ws://", StringComparison.Ordinal));
        await Guard.UntilAsync(() => dealer.GetPeers().Count(static peer => peer.WhyNotConnected is not null) == 3, "each has failed");
        Assert.All(dealer.GetPeers(), watch.See);
        watch.See(dealer.Describe());
        options.Tls.CertificateFile = "none";
        watch.Try(() => watch.Context.CreateRouter(options).Bind(watch.Query("wss://127.0.0.1:*/p")));
    });

    [Fact]
    public Task A_peer_of_a_wrong_type_and_one_that_speaks_another_protocol_show_no_secret() => SecretWatch.RunAsync(static async watch =>
    {
        PubSocket publisher = watch.Monitored(watch.Context.CreatePub());
        string bound = publisher.Bind(watch.Query("ws://127.0.0.1:*/p"));
        DealerSocket dealer = watch.Monitored(watch.Context.CreateDealer(new DealerOptions { ReconnectAfterFault = false }));
        dealer.Connect(bound);
        await watch.UntilSeenAsync("gave up");
        watch.Try(() => dealer.Receive(TimeSpan.FromMilliseconds(1)).Dispose());
        watch.See(dealer.Describe());

        using var raw = new TcpClient();
        await raw.ConnectAsync(IPAddress.Loopback, ZlinkEndpoint.Parse(bound).Port!.Value, Guard.Token);
        await raw.GetStream().WriteAsync("BREW / HTTP/9\r\n\r\n"u8.ToArray(), Guard.Token);
        await watch.UntilSeenAsync("status 400");
        watch.See(publisher.Describe());
    });

    [Fact]
    public Task A_handler_that_throws_and_a_connection_too_many_show_no_secret() => SecretWatch.RunAsync(static async watch =>
    {
        StreamSocket server = watch.Monitored(watch.Context.CreateStream(new StreamOptions { MaxConnections = 1 }));
        string bound = server.Bind(watch.Query("ws://127.0.0.1:*/p"), new Thrower());
        StreamSocket client = watch.Monitored(watch.Context.CreateStream());
        await watch.TryAsync(async () => await client.ConnectAsync(bound, Guard.Token));
        await watch.TryAsync(async () => await client.ConnectAsync(bound, Guard.Token));
        await watch.UntilSeenAsync("the handler threw");
        Assert.All(server.GetPeers(), peer => watch.See($"{peer} {peer.Endpoint}"));
        watch.See(client.Describe());
    });

    [Fact]
    public Task Messages_that_a_shutdown_leaves_undelivered_show_no_secret() => SecretWatch.RunAsync(static async watch =>
    {
        using var silent = new System.Net.Sockets.TcpListener(IPAddress.Loopback, 0);
        silent.Start();
        string endpoint = watch.Query($"ws://{silent.LocalEndpoint}/p");
        DealerSocket dealer = watch.Context.CreateDealer(new DealerOptions { Linger = TimeSpan.FromMinutes(1) });
        dealer.Connect(endpoint);
        await watch.TryAsync(() => dealer.SendAsync("lost", Guard.Token).AsTask());
        watch.See(dealer.Describe());
        watch.See(await watch.Context.ShutdownAsync(TimeSpan.FromMilliseconds(1), Guard.Token).Guarded());
    });

    internal static string NobodyAt(string scheme)
    {
        using var port = new System.Net.Sockets.TcpListener(IPAddress.Loopback, 0);
        port.Start();
        return $"{scheme}://{port.LocalEndpoint}";
    }

    private sealed class Thrower : StreamHandler
    {
        public override void OnConnected(StreamPeer peer) => throw new InvalidOperationException("It cannot be served.");

        public override ValueTask OnReceivedAsync(StreamPeer peer, StreamFrames frames) => default;
    }
}
