using Net.Zlink.Services.Tests.Support;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests;

/// <summary>A receiver whose connection swallows everything, without an end: it is left out by heartbeats, which gateways have by
/// default.</summary>
public sealed class FrozenReceiverTests
{
    private const string Service = "svc";

    private static readonly Func<ServiceRequest, CancellationToken, ValueTask> Echo =
        static (request, cancellation) => request.ReplyAsync(request.Memory, cancellation);

    [Fact]
    public async Task A_gateway_pings_a_silent_receiver_each_second_with_a_ttl_of_15_s_and_gives_it_3_s()
    {
        const string Ping = "5A0102000000000402009600";
        var clock = new ManualTimeProvider();
        await using var fixture = new ContextFixture(time: clock);
        using var listener = new RawListener();
        await using var gateway = new ServiceGateway(fixture.Context,
            new StaticDirectory(new ServiceInstance(Service, listener.Endpoint)),
            new ServiceGatewayOptions { Socket = { Linger = TimeSpan.Zero } });
        ServiceClient client = gateway.GetClient(Service);
        using RawPeer receiver = await listener.AcceptAsync();
        await receiver.SendAsync(Convert.FromHexString("5A0102000000000401060142" + "5A01020000000001" + "04"));
        const int GreetingOfOurs = 8 + 3 + 16 + 9;
        await receiver.ReadAsync(GreetingOfOurs);
        Assert.Equal(Ping, Convert.ToHexString(await receiver.ReadAsync(Ping.Length / 2)));
        await client.WaitUntilReadyAsync(1, Guard.Token).Guarded();
        await receiver.SendAsync(Convert.FromHexString("5A010200000000020300"));
        await fixture.SettleAsync();
        clock.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal(Ping, Convert.ToHexString(await receiver.ReadAsync(Ping.Length / 2)));
        await fixture.SettleAsync();
        clock.Advance(TimeSpan.FromSeconds(2.9));
        await fixture.SettleAsync();
        Assert.Equal(1, client.ReadyCount);
        clock.Advance(TimeSpan.FromSeconds(0.2));
        await Guard.UntilAsync(() => client.ReadyCount == 0, "the silence ends the connection");
    }

    [Theory]
    [InlineData("static", "tcp")]
    [InlineData("static", "tls")]
    [InlineData("static", "ws")]
    [InlineData("dns", "tcp")]
    [InlineData("registry", "tcp")]
    [InlineData("client", "tcp")]
    [InlineData("client", "ws")]
    public async Task A_frozen_receiver_costs_the_requests_that_it_has_and_no_more(string directory, string transport)
    {
        using var certificates = new TestCertificates();
        await using var fixture = new RegistryFixture();
        await using var receiver = new ServiceReceiver(fixture.Context,
            new ServiceReceiverOptions { Socket = { Tls = { Certificate = certificates.Server } } });
        string bound = receiver.Bind($"{transport}://127.0.0.1:*");
        string address = new Uri(bound).Authority;
        using var relay = new HoldingRelay($"tcp://{address}");
        string endpoint = bound.Replace(address, new Uri(relay.Endpoint).Authority, StringComparison.Ordinal);
        _ = receiver.ServeAsync(Echo, cancellationToken: Guard.Token);
        ServiceGatewayOptions options = Fast(certificates.CaFile);
        await using var discovery = new RegistryDirectory(fixture.Context);
        await using var names = new DnsDirectory(fixture.Context,
            new DnsDirectoryOptions { Filter = static address => address.AddressFamily == System.Net.Sockets.AddressFamily.InterNetwork });
        IServiceDirectory services = new StaticDirectory(new ServiceInstance(Service, endpoint));
        if (directory is "dns")
        {
            names.AddService(Service, "localhost", RawPeer.AddressOf(relay.Endpoint).Port);
            services = names;
        }
        else if (directory is "registry")
        {
            ServiceRegistry registry = fixture.Start();
            discovery.ConnectRegistry(registry.PublisherEndpoint);
            receiver.ConnectRegistry(registry.RouterEndpoint);
            await receiver.RegisterAsync(Service, endpoint, cancellationToken: Guard.Token).Guarded();
            services = discovery;
        }

        await using var gateway = new ServiceGateway(fixture.Context, services, options);
        await using RequestClient? direct = directory is "client"
            ? new RequestClient(fixture.Context, endpoint, new NoSerializer(), Service, options) : null;
        ServiceClient client = direct?.Service ?? gateway.GetClient(Service);
        await client.WaitUntilReadyAsync(1, Guard.Token).Guarded();
        (await client.RequestAsync(new byte[1], Guard.Limit, Guard.Token).AsTask().Guarded()).Dispose();

        relay.Hold();
        Task<ServiceReply> lost = client.RequestAsync(new byte[1], Guard.Limit, Guard.Token).AsTask();
        ServiceException failure = await Assert.ThrowsAsync<ServiceException>(() => lost.Guarded());
        Assert.Equal((ServiceError.ReceiverLost, 0), (failure.Error, client.ReadyCount));
    }

    [Fact]
    public async Task Of_three_receivers_of_which_two_are_frozen_the_third_takes_all()
    {
        await using var scene = new GatewayScene(Fast());
        using var one = await AddBehindRelayAsync(scene, "one");
        using var two = await AddBehindRelayAsync(scene, "two");
        await scene.AddServingAsync("three", Echo);
        one.Hold();
        two.Hold();
        await scene.UntilReadyIsAsync(1);
        for (int i = 0; i < 20; i++)
        {
            Assert.Equal("x", await scene.AskAsync("x"));
        }
    }

    private static async Task<HoldingRelay> AddBehindRelayAsync(GatewayScene scene, string id)
    {
        ServiceReceiver receiver = scene.Fixture.Own(new ServiceReceiver(scene.Fixture.Context));
        var relay = new HoldingRelay(receiver.Bind("tcp://127.0.0.1:*"));
        _ = receiver.ServeAsync(Echo, cancellationToken: Guard.Token);
        scene.List(relay.Endpoint, id);
        await scene.Fixture.UntilAsync(() => scene.Client.GetReceivers().All(static one => one.IsReady));
        return relay;
    }

    private static ServiceGatewayOptions Fast(string caFile = "") => new()
    {
        Socket =
        {
            HeartbeatInterval = TimeSpan.FromMilliseconds(50),
            HeartbeatTimeout = TimeSpan.FromMilliseconds(500),
            Tls = { CaFile = caFile },
        },
    };

    private sealed class NoSerializer : IMessageSerializer
    {
        public void Serialize<T>(T value, System.Buffers.IBufferWriter<byte> writer) => throw new NotSupportedException();

        public T Deserialize<T>(ReadOnlySpan<byte> bytes) => throw new NotSupportedException();
    }
}
