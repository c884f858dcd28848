using System.Collections.Concurrent;
using System.Text.Json;
using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Transports.WebSocket;

/// <summary>The query of a ws endpoint may hold a token, so it is shown nowhere. Request fields have the same rule.</summary>
public sealed class SecretQueryTests
{
    private const string Secret = "eyJhbGciOi";
    private const string Query = "?access_token=" + Secret;
    private static readonly TimeSpan Soon = TimeSpan.FromMilliseconds(1);

    private readonly ConcurrentQueue<string> _shown = [];

    [Fact]
    public async Task Of_a_connect_only_ConnectedEndpoints_and_LastEndpoint_have_the_query_and_Disconnect_takes_it()
    {
        using var log = new RecordingLoggers();
        await using (var fixture = new ContextFixture(log: log))
        {
            RouterSocket router = fixture.Context.CreateRouter();
            DealerSocket dealer = fixture.Context.CreateDealer(OptionsOf());
            using IDisposable events = Record(dealer);
            string endpoint = router.Bind("ws://127.0.0.1:*/feed");
            dealer.Connect(endpoint + Query);
            dealer.Send("hello");
            (await router.ReceiveAsync(Guard.Token).Guarded()).Dispose();
            Show(dealer);
            Assert.Equal(($"{endpoint}?…", endpoint + Query), (dealer.GetPeers()[0].Endpoint, dealer.LastEndpoint));
            Assert.Equal([endpoint + Query], dealer.ConnectedEndpoints);
            router.Unbind(endpoint);
            using EventReader monitor = dealer.ReadEvents(SocketEventTypes.ConnectRetried);
            await monitor.NextAsync(SocketEventTypes.ConnectRetried);
            Show(dealer);
            dealer.Disconnect(endpoint + Query);
            Assert.Empty(dealer.ConnectedEndpoints);
            _shown.Enqueue(Assert.Throws<ZlinkException>(() => dealer.Disconnect(endpoint + Query)).Message);
        }

        AssertSecret(log);
    }

    [Fact]
    public async Task A_refused_upgrade_and_an_endpoint_that_is_given_up_show_no_query()
    {
        using var log = new RecordingLoggers();
        await using (var fixture = new ContextFixture(log: log))
        {
            RouterSocket router = fixture.Context.CreateRouter();
            router.Options.WebSocket.AllowedPaths.Add("/other");
            using IDisposable server = Record(router);
            string endpoint = router.Bind("ws://127.0.0.1:*/feed");
            DealerSocket dealer = fixture.Context.CreateDealer(OptionsOf());
            dealer.Options.ReconnectInterval = TimeSpan.Zero;
            dealer.Options.SendTimeout = Soon;
            dealer.Options.SendHighWaterMark = 1;
            using IDisposable client = Record(dealer);
            using EventReader monitor = dealer.ReadEvents(SocketEventTypes.ConnectGivenUp);
            dealer.Connect(endpoint + Query);
            await monitor.NextAsync(SocketEventTypes.ConnectGivenUp);
            Show(dealer);
            _shown.Enqueue(router.Describe());
        }

        AssertSecret(log);
    }

    [Theory]
    [InlineData("ws://127.0.0.1:1" + Query + "#part")]
    [InlineData("ws://no port/feed" + Query)]
    [InlineData("http://127.0.0.1:1/feed" + Query)]
    [InlineData("ws://127.0.0.1:port" + Query)]
    public async Task An_endpoint_that_is_refused_is_quoted_without_its_query(string endpoint)
    {
        using var log = new RecordingLoggers();
        await using (var fixture = new ContextFixture(log: log))
        {
            DealerSocket dealer = fixture.Context.CreateDealer();
            using IDisposable events = Record(dealer);
            _shown.Enqueue(Assert.Throws<ZlinkException>(() => dealer.Connect(endpoint)).ToString());
            _shown.Enqueue(Assert.Throws<ZlinkException>(() => dealer.Bind(endpoint)).ToString());
            _shown.Enqueue(Assert.Throws<ZlinkException>(() => dealer.Disconnect(endpoint)).ToString());
            _shown.Enqueue(Assert.Throws<ZlinkException>(() => dealer.Unbind(endpoint)).ToString());
            StreamSocket stream = fixture.Context.CreateStream();
            _shown.Enqueue($"{await Assert.ThrowsAsync<ZlinkException>(() => stream.ConnectAsync(endpoint, Guard.Token).AsTask())}");
            _shown.Enqueue(Assert.Throws<ZlinkException>(() => stream.Bind(endpoint)).ToString());
            _shown.Enqueue(Assert.Throws<ZlinkException>(() => stream.Disconnect(endpoint)).ToString());
        }

        AssertSecret(log);
    }

    [Fact]
    public async Task A_STREAM_shows_no_query_of_a_connect_or_a_bind()
    {
        using var log = new RecordingLoggers();
        await using (var fixture = new StreamFixture(log: log))
        {
            StreamSocket server = fixture.Context.CreateStream();
            using IDisposable serverEvents = Record(server);
            string endpoint = server.Bind($"ws://127.0.0.1:*/feed{Query}");
            Assert.EndsWith(Query, endpoint, StringComparison.Ordinal);
            Assert.Equal([endpoint], server.BoundEndpoints);
            StreamSocket client = fixture.Context.CreateStream();
            using IDisposable clientEvents = Record(client);
            var options = new StreamConnectOptions { Reconnect = true, ReconnectInterval = Soon };
            uint peer = await client.ConnectAsync(endpoint, options, Guard.Token).Guarded();
            await server.NextConnectedAsync();
            Assert.True(client.TryGetPeer(peer, out StreamPeer? there));
            _shown.Enqueue(there.Endpoint);
            _shown.Enqueue(client.Describe() + server.Describe());
            using EventReader monitor = client.ReadEvents(SocketEventTypes.ConnectRetried);
            server.Unbind(endpoint);
            await monitor.NextAsync(SocketEventTypes.ConnectRetried);
            _shown.Enqueue(client.Describe() + server.Describe());
            client.Disconnect(endpoint);
        }

        AssertSecret(log);
    }

    private static DealerOptions OptionsOf()
    {
        var options = new DealerOptions { Linger = TimeSpan.Zero, ReconnectInterval = Soon };
        options.WebSocket.RequestFields["Authorization"] = $"Bearer {Secret}";
        return options;
    }

    private IDisposable Record(ZlinkSocket socket) =>
        socket.OnEvent(SocketEventTypes.All, e => _shown.Enqueue($"{e}{JsonSerializer.Serialize(e)}"));

    private void Show(DealerSocket dealer)
    {
        foreach (PeerInfo peer in dealer.GetPeers())
        {
            _shown.Enqueue($"{peer}");
        }

        _shown.Enqueue(dealer.Describe());
        dealer.TrySend("one"u8);
        if (Xunit.Record.Exception(() => dealer.Send("two"u8, Soon)) is { } failure)
        {
            _shown.Enqueue(failure.ToString());
        }
    }

    private void AssertSecret(RecordingLoggers log)
    {
        Assert.NotEmpty(_shown);
        Assert.All(_shown.Concat(log.Lines.Select(static line => line.Text)),
            static text => Assert.DoesNotContain(Secret, text, StringComparison.Ordinal));
    }
}
