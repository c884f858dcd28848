using System.Net;
using System.Net.Sockets;
using Net.Zlink.Tests.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests;

/// <summary>Many endpoints in a list where nobody is. The attack command of the scenarios measures 20,000 of them.</summary>
public class DeadEndpointTests
{
    private const int Dead = 300;

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_receiver_that_is_listed_last_is_ready_while_all_others_are_dead_and_few_are_dialled_at_a_time(bool isSwallowed)
    {
        await using var scene = new GatewayScene(new ServiceGatewayOptions { MaxConcurrentDials = 8 });
        using var dead = new DeadPort(isSwallowed);
        scene.Directory.SetService(GatewayScene.Service, Listed(dead));
        await scene.Fixture.UntilAsync(() => scene.Gateway.GetReceivers().Count == Dead);
        RouterSocket socket = scene.Fixture.Own(scene.Fixture.Context.CreateRouter());
        string last = socket.Bind("tcp://127.0.0.1:*");
        scene.Directory.SetService(GatewayScene.Service, [.. Listed(dead), new ServiceInstance(GatewayScene.Service, last)]);
        await scene.UntilReadyAsync(1);

        Assert.True(scene.Client.TrySend("x"u8));
        Assert.Equal("x", await GatewayScene.ReceiveTextAsync(socket));
        Assert.InRange(scene.Gateway.GetReceivers().Count(static receiver => receiver.WhyNotReady is "connecting"), 0, 8);
        await scene.Gateway.DisposeAsync().Guarded();
    }

    [Fact]
    public async Task Beyond_the_limit_of_a_service_others_take_the_place_of_those_that_leave_and_the_log_says_it_once()
    {
        var loggers = new RecordingLoggers();
        await using var context = new ZlinkContext(new ZlinkContextOptions { LoggerFactory = loggers });
        RouterSocket[] sockets =
            [.. Enumerable.Range(0, 4).Select(_ => context.CreateRouter(new RouterOptions { Linger = TimeSpan.Zero }))];
        string[] endpoints = [.. sockets.Select(static socket => socket.Bind("tcp://127.0.0.1:*"))];
        var directory = new StaticDirectory();
        directory.SetService("svc", [.. endpoints.Select(static endpoint => new ServiceInstance("svc", endpoint))]);
        await using var gateway = new ServiceGateway(context, directory, new ServiceGatewayOptions { MaxConnectedEndpoints = 2 });
        ServiceClient client = gateway.GetClient("svc");
        await client.WaitUntilReadyAsync(2, Guard.Token).Guarded();
        ReceiverLinkInfo[] ready = [.. gateway.GetReceivers().Where(static receiver => receiver.IsReady)];
        Assert.Equal(2, ready.Length);
        Assert.All(gateway.GetReceivers().Where(static receiver => !receiver.IsReady),
            static receiver => Assert.Contains("others are dialled first", receiver.WhyNotReady, StringComparison.Ordinal));

        sockets[Array.IndexOf(endpoints, ready[0].Endpoint)].Dispose();
        await Guard.UntilAsync(() => client.ReadyCount == 2 && gateway.GetReceivers().Count(static one => one.Connections > 0) == 3,
            "a third one takes its place");
        Assert.Single(loggers.TextsOf(2210));
    }

    [Fact]
    public async Task Each_link_that_changes_leaves_the_snapshots_of_other_services_alone()
    {
        await using var scene = new GatewayScene();
        (RouterSocket one, _) = await scene.AddRawAsync("one");
        ServiceClient other = scene.Gateway.GetClient("other");
        Task replaced = other.Pool.Ready.Replaced;
        Task own = scene.Client.Pool.Ready.Replaced;
        one.Dispose();
        await own.Guarded();
        await scene.UntilReadyIsAsync(0);
        Assert.False(replaced.IsCompleted);
    }

    private static ServiceInstance[] Listed(DeadPort dead) => [.. Enumerable.Range(0, Dead)
        .Select(number => new ServiceInstance(GatewayScene.Service, $"tcp://127.1.{number >> 8}.{number & 0xFF}:{dead.Port}"))];

    /// <summary>A port of all addresses of the machine where nobody listens, or whose queue is full.</summary>
    private sealed class DeadPort : IDisposable
    {
        private readonly Socket _hole = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        private readonly List<Socket> _filling = [];

        public DeadPort(bool isSwallowed)
        {
            _hole.Bind(new IPEndPoint(IPAddress.Any, 0));
            Port = ((IPEndPoint)_hole.LocalEndPoint!).Port;
            if (!isSwallowed)
            {
                return;
            }

            _hole.Listen(1);
            for (int i = 0; i < 4; i++)
            {
                var client = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { Blocking = false };
                _filling.Add(client);
                try
                {
                    client.Connect(IPAddress.Loopback, Port);
                }
                catch (SocketException)
                {
                    // It is on its way.
                }
            }
        }

        public int Port { get; }

        public void Dispose()
        {
            _filling.ForEach(static client => client.Dispose());
            _hole.Dispose();
        }
    }
}
