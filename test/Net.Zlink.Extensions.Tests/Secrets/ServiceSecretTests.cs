using Net.Zlink.Extensions.Nats;
using Net.Zlink.Services;
using Net.Zlink.Tests.Support;
using NATS.Client.Core;
using Xunit;

namespace Net.Zlink.Extensions.Tests;

/// <summary>What services, SPOT nodes, registries and directories say of endpoints with secrets when something fails.</summary>
public sealed class ServiceSecretTests
{
    private static readonly TimeSpan Brief = TimeSpan.FromMilliseconds(50);

    [Fact]
    public Task Endpoints_that_services_refuse_show_no_secret() => SecretWatch.RunAsync(static async watch =>
    {
        await using var receiver = new ServiceReceiver(watch.Context);
        await using var node = new SpotNode(watch.Context);
        await using var directory = new RegistryDirectory(watch.Context);
        await using ServiceRegistry registry = Registry(watch);
        receiver.Bind("tcp://127.0.0.1:*");
        foreach (string endpoint in watch.Planted("tcp://127.0.0.1:1", "ws://*:1/p", "amqp://h:1", "h:1", "http://h"))
        {
            watch.Try(() => receiver.Bind(endpoint));
            watch.Try(() => receiver.ConnectRegistry(endpoint));
            watch.Try(() => receiver.Register("svc", endpoint));
            watch.Try(() => receiver.Register("svc", endpoint));
            watch.Try(() => node.Bind(endpoint));
            watch.Try(() => node.Connect(endpoint));
            watch.Try(() => node.ConnectRegistry(endpoint));
            watch.Try(() => directory.ConnectRegistry(endpoint));
            watch.Try(() => registry.AddPeer(endpoint));
            var instance = new ServiceInstance("svc", endpoint);
            watch.Try(() => new StaticDirectory(instance).SetService("other", instance));
            watch.Try(() => new ServiceReceiverOptions { AdvertiseHost = endpoint }.Validate());
            watch.Try(() => new RequestClient(watch.Context, endpoint, new JsonMessageSerializer(Contracts.Default)).Dispose());
            watch.Try(() => new RequestServer(watch.Context, endpoint, new JsonMessageSerializer(Contracts.Default)).Dispose());
            watch.Try(() => Registry(watch, endpoint).Dispose());
        }

        watch.See($"{receiver.Describe()} {node.Describe()} {directory.Describe()} {registry.Describe()}");
    });

    [Fact]
    public Task A_receiver_that_cannot_be_reached_shows_no_secret() => SecretWatch.RunAsync(static async watch =>
    {
        var instance = new ServiceInstance("svc", watch.Query($"{SocketSecretTests.NobodyAt("ws")}/p"));
        await using var gateway = new ServiceGateway(watch.Context, new StaticDirectory(instance));
        ServiceClient client = gateway.GetClient("svc");
        await watch.TryAsync(() => client.RequestAsync("x"u8.ToArray(), Brief, Guard.Token).AsTask());
        await watch.UntilSeenAsync("could not be reached");
        await watch.TryAsync(() => client.RequestAsync("x"u8.ToArray(), Brief, Guard.Token).AsTask());
        await using var typed = new RequestClient(watch.Context, instance.Endpoint, new JsonMessageSerializer(Contracts.Default));
        await watch.TryAsync(() => typed.RequestAsync<Ask, Quote>(new Ask("EUR"), Brief, Guard.Token).AsTask());
        watch.See($"{instance} {gateway.Describe()}");
    });

    [Fact]
    public Task A_receiver_that_fails_falls_silent_and_ends_shows_no_secret() => SecretWatch.RunAsync(static async watch =>
    {
        var receiver = new ServiceReceiver(watch.Context);
        var directory = new StaticDirectory(new ServiceInstance("svc", receiver.Bind(watch.Query("ws://127.0.0.1:*/p"))));
        await using var gateway = new ServiceGateway(watch.Context, directory);
        ServiceClient client = gateway.GetClient("svc");
        await client.WaitUntilReadyAsync(1, Guard.Token).AsTask().Guarded();
        _ = receiver.ServeAsync(
            static (request, _) => request.Memory.Span[0] == 's' ? new ValueTask(Task.Delay(Timeout.Infinite, Guard.Token))
                : throw new InvalidOperationException("It failed."),
            cancellationToken: Guard.Token);
        await watch.TryAsync(() => client.RequestAsync("fail"u8.ToArray(), null, Guard.Token).AsTask());
        await watch.TryAsync(() => client.RequestAsync("silence"u8.ToArray(), Brief, Guard.Token).AsTask());
        watch.See($"{gateway.Describe()} {receiver.Describe()}");
        Task lost = watch.TryAsync(() => client.RequestAsync("silence"u8.ToArray(), null, Guard.Token).AsTask());
        receiver.Dispose();
        await lost;
        watch.See(gateway.Describe());
    });

    [Fact]
    public Task A_registration_that_is_refused_shows_no_secret() => SecretWatch.RunAsync(static async watch =>
    {
        bool isOpen = false;
        await using ServiceRegistry registry = Registry(watch, admission: _ => Volatile.Read(ref isOpen)
            ? throw new InvalidOperationException("The policy failed.") : RegistrationAdmission.Refuse("not today"));
        await using var receiver = new ServiceReceiver(watch.Context);
        receiver.Bind("ws://127.0.0.1:*/p");
        receiver.ConnectRegistry(registry.RouterEndpoint);
        receiver.ConnectRegistry(watch.Query($"{SocketSecretTests.NobodyAt("ws")}/registry"));
        string advertised = watch.Query("ws://127.0.0.1:1/p");
        await watch.TryAsync(() => receiver.RegisterAsync("svc", advertised, cancellationToken: Guard.Token).WaitAsync(Brief, Guard.Token));
        await watch.UntilSeenAsync("was refused");
        watch.Try(() => receiver.Register("svc", advertised));
        Volatile.Write(ref isOpen, true);
        receiver.Register("other", advertised);
        await watch.UntilSeenAsync("the admission callback threw");
        watch.See($"{receiver.Describe()} {registry.Describe()}");
    });

    [Fact]
    public Task A_registered_endpoint_shows_no_secret_until_it_leaves() => SecretWatch.RunAsync(static async watch =>
    {
        await using ServiceRegistry registry = Registry(watch);
        registry.AddPeer(watch.Query($"{SocketSecretTests.NobodyAt("ws")}/peer"));
        await using var directory = new RegistryDirectory(watch.Context);
        directory.ConnectRegistry(registry.PublisherEndpoint);
        directory.ConnectRegistry(watch.Query($"{SocketSecretTests.NobodyAt("ws")}/registry"));
        await using var gateway = new ServiceGateway(watch.Context, directory);
        gateway.GetClient("svc");
        using var end = CancellationTokenSource.CreateLinkedTokenSource(Guard.Token);
        IAsyncEnumerator<RegistryEvent> events = registry.WatchAsync(end.Token).GetAsyncEnumerator(end.Token);
        ValueTask<bool> next = events.MoveNextAsync();
        await using var receiver = new ServiceReceiver(watch.Context);
        string advertised = watch.Query(receiver.Bind("ws://127.0.0.1:*/p"));
        receiver.ConnectRegistry(registry.RouterEndpoint);
        ServiceRegistration registration =
            await receiver.RegisterAsync("svc", advertised, cancellationToken: Guard.Token).Guarded();
        Assert.True(await next.Guarded());
        watch.See(events.Current);
        watch.See(await directory.WaitForAsync("svc", cancellationToken: Guard.Token).Guarded());
        await watch.UntilSeenAsync("is ready");
        watch.See($"{receiver.Describe()} {registry.Describe()} {directory.Describe()} {gateway.Describe()}");
        await registration.DisposeAsync().AsTask().Guarded();
        await end.CancelAsync();
    });

    [Fact]
    public Task A_spot_node_that_is_dead_shows_no_secret() => SecretWatch.RunAsync(static async watch =>
    {
        await using var node = new SpotNode(watch.Context);
        string dead = watch.Query($"{SocketSecretTests.NobodyAt("ws")}/p");
        node.Connect(dead);
        node.ConnectRegistry(watch.Query($"{SocketSecretTests.NobodyAt("ws")}/registry"));
        node.Bind(watch.Query("ws://127.0.0.1:*/p"));
        node.Register(advertise: watch.Query("ws://127.0.0.1:1/p"));
        using IDisposable followed = node.UseDirectory(new StaticDirectory(
            [.. watch.Planted("ws://127.0.0.1:1/d", "tcp://127.0.0.1:1").Select(static one => new ServiceInstance("spot-node", one))]));
        await watch.UntilSeenAsync("cannot connect");
        await watch.UntilSeenAsync("cannot be connected");
        Assert.All(node.GetPeers(), watch.See);
        watch.See(node.Describe());
        node.Disconnect(dead);
        await watch.UntilSeenAsync("was disconnected");
    });

    [Fact]
    public Task A_nats_server_that_cannot_be_reached_shows_no_secret() => SecretWatch.RunAsync(static async watch =>
    {
        string server = SocketSecretTests.NobodyAt("nats");
        string withPassword = watch.Planted(server).First();
        await using var nats = new NatsConnection(new NatsOpts { Url = withPassword, LoggerFactory = watch });
        await using var directory = new NatsServiceDirectory(watch.Context, nats);
        await watch.UntilSeenAsync("cannot be read");
        var instance = new ServiceInstance("svc", watch.Query("ws://127.0.0.1:1/p"));
        await watch.TryAsync(() => NatsServiceRegistration.RegisterAsync(watch.Context, nats, instance, null, Guard.Token));
        await watch.TryAsync(() => NatsServiceRegistration.RegisterAsync(
            watch.Context, nats, new ServiceInstance(new string('s', 300), instance.Endpoint), null, Guard.Token));
    });

    private static ServiceRegistry Registry(
        SecretWatch watch, string router = "tcp://127.0.0.1:*", Func<RegistrationRequest, RegistrationAdmission>? admission = null)
    {
        var registry = new ServiceRegistry(watch.Context, new ServiceRegistryOptions
        {
            PublisherEndpoint = "tcp://127.0.0.1:*",
            RouterEndpoint = router,
            Admission = admission is null ? null : (request, _) => new ValueTask<RegistrationAdmission>(admission(request)),
        });
        try
        {
            registry.Start();
            return registry;
        }
        catch
        {
            watch.See(registry.Describe());
            registry.Dispose();
            throw;
        }
    }
}
