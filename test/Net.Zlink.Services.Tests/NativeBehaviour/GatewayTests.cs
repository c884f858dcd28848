using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests.NativeBehaviour;

/// <summary>core/tests/discovery/test_gateway.cpp, test by test and with its values.</summary>
public class GatewayTests
{
    [Fact]
    public async Task Single_service_tcp()
    {
        await using var scene = new NativeGatewayScene();
        (ServiceReceiver receiver, ServiceRegistration registration) = await scene.AddReceiverAsync("svc", "PROV1");
        ServiceInstance instance = Assert.Single(scene.Discovery.GetService("svc").Instances);
        Assert.Equal(registration.Endpoint, instance.Endpoint);
        Assert.False(instance.RoutingId.IsEmpty);
        ServiceClient client = scene.CreateGateway().GetClient("svc");
        await client.WaitUntilReadyAsync(1, Guard.Token).Guarded();

        await NativeGatewayScene.SendAsync(client, "hello");

        Assert.Equal("hello", await NativeGatewayScene.ReceiveAsync(receiver));
    }

    [Fact]
    public async Task Send_rid_tcp()
    {
        await using var scene = new NativeGatewayScene();
        (ServiceReceiver receiver, _) = await scene.AddReceiverAsync("svc", "PROV-RID");
        ServiceClient client = scene.CreateGateway().GetClient("svc");
        await client.WaitUntilReadyAsync(1, Guard.Token).Guarded();

        Assert.True(client.To(scene.Discovery.GetService("svc").Instances[0].RoutingId).TrySend("rid-msg"u8));

        Assert.Equal("rid-msg", await NativeGatewayScene.ReceiveAsync(receiver));
    }

    [Fact]
    public async Task Multi_service_tcp()
    {
        await using var scene = new NativeGatewayScene();
        (ServiceReceiver a, _) = await scene.AddReceiverAsync("svc-A", "PROVA");
        (ServiceReceiver b, _) = await scene.AddReceiverAsync("svc-B", "PROVB");
        ServiceGateway gateway = scene.CreateGateway();

        await NativeGatewayScene.SendAsync(gateway.GetClient("svc-A"), "msg-to");
        await NativeGatewayScene.SendAsync(gateway.GetClient("svc-B"), "msg-to-B");

        Assert.Equal("msg-to", await NativeGatewayScene.ReceiveAsync(a));
        Assert.Equal("msg-to-B", await NativeGatewayScene.ReceiveAsync(b));
    }

    [Fact]
    public async Task Refresh_on_update()
    {
        await using var scene = new NativeGatewayScene();
        (ServiceReceiver first, ServiceRegistration registration) = await scene.AddReceiverAsync("svc-update", "UP1");
        ServiceClient client = scene.CreateGateway().GetClient("svc-update");
        await NativeGatewayScene.SendAsync(client, "one");
        Assert.Equal("one", await NativeGatewayScene.ReceiveAsync(first));

        await registration.DisposeAsync().Guarded();
        await scene.Fixture.UntilAsync(() => client.ReadyCount == 0);
        (ServiceReceiver second, _) = await scene.AddReceiverAsync("svc-update", "UP2");
        await client.WaitUntilReadyAsync(1, Guard.Token).Guarded();
        await NativeGatewayScene.SendAsync(client, "two");

        Assert.Equal("two", await NativeGatewayScene.ReceiveAsync(second));
        Assert.Equal(0, NativeGatewayScene.Count(first));
    }

    /// <summary>In the strict form, in which the native program fails by its receive helper: no send fails, and each message
    /// arrives.</summary>
    [Fact]
    public async Task Concurrent_send_and_updates()
    {
        const int Threads = 4;
        const int PerThread = 50;
        await using var scene = new NativeGatewayScene();
        (ServiceReceiver receiver, ServiceRegistration registration) = await scene.AddReceiverAsync("svc-sync", "SYNC");
        ServiceClient client = scene.CreateGateway().GetClient("svc-sync");
        await client.WaitUntilReadyAsync(1, Guard.Token).Guarded();

        Task updates = Task.Run(async () =>
        {
            for (uint i = 0; i < 200; i++)
            {
                await registration.UpdateWeightAsync((i % 2) + 1, Guard.Token);
            }
        }, Guard.Token);
        Task[] senders = [.. Enumerable.Range(0, Threads).Select(_ => Task.Factory.StartNew(
            () =>
            {
                for (int i = 0; i < PerThread; i++)
                {
                    client.Send("sync"u8);
                }
            },
            Guard.Token,
            TaskCreationOptions.LongRunning,
            TaskScheduler.Default))];
        await Task.WhenAll(senders).Guarded();
        await updates.Guarded();

        for (int i = 0; i < Threads * PerThread; i++)
        {
            Assert.Equal("sync", await NativeGatewayScene.ReceiveAsync(receiver));
        }
    }

    [Theory]
    [InlineData("ws", "PROVWS")]
    [InlineData("tls", "PROVTLS")]
    [InlineData("wss", "PROVWSS")]
    public async Task Protocol(string protocol, string id)
    {
        using var certificates = new TestCertificates();
        await using var scene = new NativeGatewayScene();
        (ServiceReceiver receiver, _) = await scene.AddReceiverAsync(
            $"svc-{protocol}", id, bind: $"{protocol}://127.0.0.1:*", configure: options =>
        {
            options.Tls.CertificateFile = certificates.CertificateFile;
            options.Tls.KeyFile = certificates.KeyFile;
        });
        ServiceGateway gateway = scene.CreateGateway(options: new ServiceGatewayOptions
        {
            Socket = { Tls = { CaFile = certificates.CaFile, HostName = "localhost", TrustSystem = false } },
        });

        await NativeGatewayScene.SendAsync(gateway.GetClient($"svc-{protocol}"), $"{protocol}-test");

        Assert.Equal($"{protocol}-test", await NativeGatewayScene.ReceiveAsync(receiver));
    }

    [Fact]
    public async Task Provider_setsockopt()
    {
        await using var fixture = new ContextFixture();
        await using var discovery = new RegistryDirectory(
            fixture.Context, options: new RegistryDirectoryOptions { Socket = { Linger = TimeSpan.Zero } });
        await using var registry = new ServiceRegistry(fixture.Context, new ServiceRegistryOptions
        {
            PublisherEndpoint = "inproc://pub",
            RouterEndpoint = "inproc://router",
            PublisherSocket = { Linger = TimeSpan.Zero },
            RouterSocket = { Linger = TimeSpan.Zero },
        });
        RouterOptions socket = new ServiceGatewayOptions().Socket;
        await using var receiver = new ServiceReceiver(fixture.Context);

        Assert.Equal((1_000_000, 1_000_000), (socket.SendHighWaterMark, socket.ReceiveHighWaterMark));
        Assert.Equal((1_000_000, 1_000_000), (receiver.Socket.Options.SendHighWaterMark, receiver.Socket.Options.ReceiveHighWaterMark));
    }

    [Fact]
    public async Task Load_balancing()
    {
        await using var scene = new NativeGatewayScene();
        (ServiceReceiver first, _) = await scene.AddReceiverAsync("lb-svc", "PROV1", weight: 10);
        (ServiceReceiver second, _) = await scene.AddReceiverAsync("lb-svc", "PROV2", weight: 10);
        ServiceClient client = scene.CreateGateway().GetClient("lb-svc");
        await client.WaitUntilReadyAsync(2, Guard.Token).Guarded();
        for (int i = 0; i < 10; i++)
        {
            await NativeGatewayScene.SendAsync(client, "lb");
        }

        Assert.Equal((5, 5), await CountsAsync(scene, first, second, 10));
    }

    [Fact]
    public async Task Weighted_load_balancing()
    {
        await using var scene = new NativeGatewayScene();
        (ServiceReceiver first, _) = await scene.AddReceiverAsync("lb-weighted", "WPROV1", weight: 8);
        (ServiceReceiver second, _) = await scene.AddReceiverAsync("lb-weighted", "WPROV2", weight: 1);
        ServiceClient client = scene.CreateGateway().GetClient("lb-weighted");
        client.LoadBalancing = LoadBalancing.Weighted;
        await client.WaitUntilReadyAsync(2, Guard.Token).Guarded();
        for (int i = 0; i < 27; i++)
        {
            await NativeGatewayScene.SendAsync(client, "weighted");
        }

        Assert.Equal((24, 3), await CountsAsync(scene, first, second, 27));
    }

    private static async Task<(int First, int Second)> CountsAsync(
        NativeGatewayScene scene, ServiceReceiver first, ServiceReceiver second, int expected)
    {
        int one = 0;
        int other = 0;
        await scene.Fixture.UntilAsync(() =>
        {
            one += NativeGatewayScene.Count(first);
            other += NativeGatewayScene.Count(second);
            return one + other >= expected;
        });
        return (one, other);
    }
}
