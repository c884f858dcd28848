using System.Text;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests;

/// <summary>What a native gateway gets wrong about its connections.</summary>
public class LinkTests
{
    [Fact]
    public async Task A_receiver_that_comes_back_on_its_endpoint_with_another_id_is_reached_by_the_new_id()
    {
        await using var scene = new GatewayScene();
        (RouterSocket before, string endpoint) = await scene.AddRawAsync("before");
        before.Dispose();
        await scene.UntilReadyIsAsync(0);
        using RouterSocket after = Rebind(scene, endpoint);
        scene.List(endpoint, "after");
        await scene.UntilReadyAsync(1);

        Assert.True(scene.Client.To(RoutingId.FromText("after")).TrySend("hello"u8));
        Assert.Equal("hello", await GatewayScene.ReceiveTextAsync(after));
        Assert.Equal(SendFailure.NoPeer, scene.Client.To(RoutingId.FromText("before")).TrySend("x"u8).Reason);
        Assert.Single(scene.Gateway.GetReceivers());
    }

    [Fact]
    public async Task Two_receivers_with_one_routing_id_are_both_served()
    {
        await using var scene = new GatewayScene();
        RoutingId same = RoutingId.FromText("same");
        (RouterSocket one, _) = await scene.AddRawAsync("same", configure: options => options.RoutingId = same);
        (RouterSocket other, _) = await scene.AddRawAsync("same", configure: options => options.RoutingId = same);

        Assert.True(scene.Client.TrySend("a"u8));
        Assert.True(scene.Client.TrySend("b"u8));

        string[] texts = [await GatewayScene.ReceiveTextAsync(one), await GatewayScene.ReceiveTextAsync(other)];
        Assert.Equal(["a", "b"], texts.Order(StringComparer.Ordinal), StringComparer.Ordinal);
    }

    [Fact]
    public async Task An_endpoint_that_is_down_when_it_leaves_the_list_is_disconnected_all_the_same()
    {
        var time = new ManualTimeProvider();
        await using var scene = new GatewayScene(new ServiceGatewayOptions { RemovedEndpointTimeout = TimeSpan.FromSeconds(5) }, time);
        (RouterSocket socket, string endpoint) = await scene.AddRawAsync("gone");
        socket.Dispose();
        await scene.UntilReadyIsAsync(0);

        scene.Unlist(endpoint);
        await scene.Fixture.UntilAsync(() => scene.Client.GetReceivers().Count == 0);
        Assert.Single(scene.Gateway.GetReceivers());
        await scene.Fixture.UntilAsync(() =>
        {
            time.Advance(TimeSpan.FromSeconds(1));
            return scene.Gateway.GetReceivers().Count == 0;
        });
    }

    [Fact]
    public async Task What_a_removed_receiver_still_answers_arrives()
    {
        await using var scene = new GatewayScene();
        (RouterSocket socket, string endpoint) = await scene.AddRawAsync("leaving");
        Task<string> asked = scene.AskAsync("x");
        using Message request = await socket.ReceiveAsync(Guard.Token).Guarded();

        scene.Unlist(endpoint);
        await scene.UntilReadyIsAsync(0);
        using var reply = new MessageBuilder();
        Assert.True(socket.To(request).TrySend(reply.Add(request[0].Span).Add("late but there")));

        Assert.Equal("late but there", await asked.Guarded());
    }

    [Fact]
    public async Task A_receiver_that_is_listed_again_in_time_keeps_its_connection()
    {
        var time = new ManualTimeProvider();
        await using var scene = new GatewayScene(new ServiceGatewayOptions { RemovedEndpointTimeout = TimeSpan.FromSeconds(5) }, time);
        (RouterSocket socket, string endpoint) = await scene.AddRawAsync("old");
        scene.Unlist(endpoint);
        await scene.UntilReadyIsAsync(0);
        time.Advance(TimeSpan.FromSeconds(4));

        scene.List(endpoint, "new");
        await scene.UntilReadyAsync(1);
        await scene.Fixture.SettleAsync();
        time.Advance(TimeSpan.FromSeconds(60));
        await scene.Fixture.SettleAsync();

        Assert.Equal((1, 1), (scene.Gateway.GetReceivers()[0].Connections, scene.Gateway.GetReceivers().Count));
        Assert.True(scene.Client.To(RoutingId.FromText("new")).TrySend("hello"u8));
        Assert.Equal("hello", await GatewayScene.ReceiveTextAsync(socket));
    }

    [Fact]
    public async Task A_full_receiver_of_one_service_does_not_hold_up_another_service()
    {
        await using var scene = new GatewayScene(new ServiceGatewayOptions { Socket = { SendHighWaterMark = 1, Linger = TimeSpan.Zero } });
        await scene.AddRawAsync("full", configure: static options =>
        {
            options.ReceiveHighWaterMark = 1;
            options.ReceiveBufferSize = 4_096;
            options.CloseTimeout = TimeSpan.Zero;
        });
        byte[] payload = new byte[256 * 1024];
        int refusals = 0;
        await scene.Fixture.UntilAsync(() =>
        {
            refusals = scene.Client.TrySend(payload) ? 0 : refusals + 1;
            return refusals > 100;
        });
        using RouterSocket open = scene.Fixture.Context.CreateRouter();
        scene.Directory.SetService("other", new ServiceInstance("other", open.Bind("tcp://127.0.0.1:*")));
        ServiceClient other = scene.Gateway.GetClient("other");
        await other.WaitUntilReadyAsync(1, Guard.Token).Guarded();

        Task blocked = Task.Factory.StartNew(() => scene.Client.Send(payload, Guard.Limit), Guard.Token, TaskCreationOptions.LongRunning,
            TaskScheduler.Default);
        for (int i = 0; i < 100; i++)
        {
            await other.SendAsync(Encoding.UTF8.GetBytes($"{i}"), Guard.Token).AsTask().Guarded();
            Assert.Equal($"{i}", await GatewayScene.ReceiveTextAsync(open));
        }

        Assert.False(blocked.IsCompleted);
        await scene.Gateway.DisposeAsync().Guarded();
        await Assert.ThrowsAnyAsync<ObjectDisposedException>(() => blocked.Guarded());
    }

    [Fact]
    public async Task A_gateway_at_rest_has_no_timer()
    {
        var time = new ManualTimeProvider();
        await using var scene = new GatewayScene(time: time);
        await scene.AddServingAsync("one", static (request, cancellation) => request.ReplyAsync(request.Memory, cancellation));
        Assert.Equal("x", await scene.AskAsync("x"));
        await scene.Fixture.UntilAsync(() =>
        {
            time.Advance(TimeSpan.FromMilliseconds(10)); // The tick behind the last request is the last one.
            return time.ArmedTimers == 0;
        });
    }

    [Fact]
    public async Task A_removed_service_leaves_nothing_behind_and_its_client_finds_nobody()
    {
        await using var scene = new GatewayScene(new ServiceGatewayOptions { RemovedEndpointTimeout = TimeSpan.Zero });
        await scene.AddRawAsync("one");

        Assert.True(scene.Gateway.RemoveClient(GatewayScene.Service));
        Assert.False(scene.Gateway.RemoveClient(GatewayScene.Service));

        Assert.False(scene.Client.TrySend("x"u8));
        await scene.Fixture.UntilAsync(() => scene.Gateway.GetReceivers().Count == 0);
        Assert.NotSame(scene.Client, scene.Gateway.GetClient(GatewayScene.Service));
    }

    [Fact]
    public async Task Two_services_at_one_endpoint_share_a_connection_and_one_may_leave()
    {
        await using var scene = new GatewayScene(new ServiceGatewayOptions { RemovedEndpointTimeout = TimeSpan.Zero });
        (RouterSocket socket, string endpoint) = await scene.AddRawAsync("one");
        scene.Directory.SetService(
            "other", new ServiceInstance("other", endpoint) { RoutingId = RoutingId.FromText("two"), Weight = 7 });
        ServiceClient other = scene.Gateway.GetClient("other");
        await other.WaitUntilReadyAsync(1, Guard.Token).Guarded();
        Assert.Equal(2, Assert.Single(scene.Gateway.GetReceivers()).Instances.Count);

        scene.Unlist(endpoint);
        await scene.UntilReadyIsAsync(0);

        Assert.True(other.TrySend("x"u8));
        using Message message = await socket.ReceiveAsync(Guard.Token).Guarded();
        Assert.True(socket.To(message).TrySend("y"u8));
        using GatewayMessage answer = await scene.Gateway.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal("other", answer.Service);
    }

    [Fact]
    public async Task A_lost_connection_drops_what_was_queued_for_it_and_nothing_reaches_the_next_one()
    {
        await using var scene = new GatewayScene(new ServiceGatewayOptions { Socket = { Linger = TimeSpan.Zero } });
        (RouterSocket before, string endpoint) = await scene.AddRawAsync("one", configure: static options =>
        {
            options.ReceiveHighWaterMark = 1;
            options.ReceiveBufferSize = 4_096;
            options.CloseTimeout = TimeSpan.Zero;
        });
        byte[] payload = new byte[256 * 1024];
        for (int i = 0; i < 100; i++)
        {
            Assert.True(scene.Client.TrySend(payload));
        }

        before.Dispose();
        await scene.UntilReadyIsAsync(0);
        using RouterSocket after = Rebind(scene, endpoint);
        await scene.UntilReadyAsync(1);
        Assert.True(scene.Client.TrySend("first"u8));

        Assert.Equal("first", await GatewayScene.ReceiveTextAsync(after));
    }

    [Fact]
    public async Task An_endpoint_that_is_none_is_told_and_spoils_nothing()
    {
        await using var scene = new GatewayScene();
        scene.List("carrier-pigeon://roof", "odd");
        await scene.AddRawOnlyAsync("good");

        ReceiverLinkInfo odd = scene.Client.GetReceivers()
            .Single(static receiver => receiver.Endpoint.StartsWith("carrier", StringComparison.Ordinal));
        Assert.False(odd.IsReady);
        Assert.NotNull(odd.WhyNotReady);
        Assert.Contains("carrier-pigeon://roof", scene.Gateway.Describe(), StringComparison.Ordinal);
        Assert.True(scene.Client.TrySend("x"u8));
    }

    [Theory]
    [InlineData("tcp")]
    [InlineData("ipc")]
    [InlineData("inproc")]
    [InlineData("tls")]
    [InlineData("ws")]
    [InlineData("wss")]
    public async Task Requests_and_messages_go_over_every_transport_also_after_a_return(string transport)
    {
        using var certificates = new TestCertificates();
        await using var scene = new GatewayScene(
            new ServiceGatewayOptions { Socket = { Tls = { CaFile = certificates.CaFile } } });
        string bind = transport is "inproc" ? $"inproc://{Guid.NewGuid():N}" : transport is "ipc"
            ? $"ipc://{Path.Combine(Path.GetTempPath(), $"{Guid.NewGuid():N}.sock")}" : $"{transport}://127.0.0.1:*";
        (RouterSocket socket, string endpoint) = await scene.AddRawAsync("one", bind: bind, configure: Server);
        await RoundTripAsync(scene, socket);

        socket.Dispose();
        await scene.UntilReadyIsAsync(0);
        using RouterSocket next = Rebind(scene, endpoint, Server);
        await scene.UntilReadyAsync(1);
        await RoundTripAsync(scene, next);

        void Server(RouterOptions options)
        {
            options.Linger = TimeSpan.Zero;
            if (transport is "tls" or "wss")
            {
                options.Tls.CertificateFile = certificates.CertificateFile;
                options.Tls.KeyFile = certificates.KeyFile;
            }
        }
    }

    private static async Task RoundTripAsync(GatewayScene scene, RouterSocket socket)
    {
        SendResult result = scene.Client.TrySend("plain"u8);
        Assert.True(result, $"{result}; {scene.Gateway.Describe()}");
        Assert.Equal("plain", await GatewayScene.ReceiveTextAsync(socket));
        Task<string> asked = scene.AskAsync("x");
        using Message request = await socket.ReceiveAsync(Guard.Token).Guarded();
        using var reply = new MessageBuilder();
        Assert.True(socket.To(request).TrySend(reply.Add(request[0].Span).Add("y")));
        Assert.Equal("y", await asked.Guarded());
    }

    private static RouterSocket Rebind(GatewayScene scene, string endpoint, Action<RouterOptions>? configure = null)
    {
        var options = new RouterOptions { Linger = TimeSpan.Zero };
        configure?.Invoke(options);
        RouterSocket socket = scene.Fixture.Own(scene.Fixture.Context.CreateRouter(options));
        socket.Bind(endpoint);
        return socket;
    }
}
