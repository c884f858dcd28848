using System.Text;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests;

/// <summary>What the native programs for gateways set up: a registry and a discovery over inproc, and receivers over a transport, read as
/// raw ROUTERs that probe.</summary>
internal sealed class NativeGatewayScene : IAsyncDisposable
{
    /// <summary>The native programs allow two or three seconds, on a machine that does nothing else.</summary>
    public static readonly TimeSpan Timeout = Guard.Limit;

    private const string Publisher = "inproc://registry-pub";
    private const string Router = "inproc://registry-router";

    private readonly List<IAsyncDisposable> _parts = [];

    public NativeGatewayScene()
    {
        Registry = Own(new ServiceRegistry(
            Fixture.Context, new ServiceRegistryOptions { PublisherEndpoint = Publisher, RouterEndpoint = Router }));
        Registry.Start();
        Discovery = CreateDiscovery();
    }

    public ContextFixture Fixture { get; } = new();

    public ServiceRegistry Registry { get; }

    public RegistryDirectory Discovery { get; }

    public RegistryDirectory CreateDiscovery(params ReadOnlySpan<string> services)
    {
        RegistryDirectory discovery = Own(new RegistryDirectory(Fixture.Context));
        discovery.ConnectRegistry(Publisher);
        foreach (string service in services)
        {
            discovery.Subscribe(service);
        }

        return discovery;
    }

    public ServiceGateway CreateGateway(RegistryDirectory? discovery = null, ServiceGatewayOptions? options = null) =>
        Own(new ServiceGateway(Fixture.Context, discovery ?? Discovery, options));

    /// <summary>A receiver that is bound and registered, and in the list of the discovery.</summary>
    public async Task<(
        ServiceReceiver Receiver, ServiceRegistration Registration)> AddReceiverAsync(
            string service, string id, uint weight = 1, string bind = "tcp://127.0.0.1:*", Action<RouterOptions>? configure = null)
    {
        ServiceReceiver receiver =
            Own(new ServiceReceiver(Fixture.Context, new ServiceReceiverOptions().With(options => configure?.Invoke(options.Socket))));
        string endpoint = receiver.Bind(bind);
        receiver.Socket.Options.ProbeRouter = true;
        receiver.Socket.Options.RoutingId = RoutingId.FromText(id);
        receiver.ConnectRegistry(Router);
        ServiceRegistration registration = await receiver.RegisterAsync(service, endpoint, weight, Guard.Token).Guarded();
        await Fixture.UntilAsync(() => Discovery.GetService(service)
            .Instances.Any(instance => string.Equals(instance.Endpoint, endpoint, StringComparison.Ordinal)));
        return (receiver, registration);
    }

    /// <summary>Sends until it is accepted, as the native programs do.</summary>
    public static async Task SendAsync(ServiceClient client, string text)
    {
        using var limit = new CancellationTokenSource(Timeout);
        await client.SendAsync(Encoding.UTF8.GetBytes(text), limit.Token);
    }

    /// <summary>The next message that is no probe.</summary>
    public static async Task<string> ReceiveAsync(ServiceReceiver receiver)
    {
        using var limit = new CancellationTokenSource(Timeout);
        while (true)
        {
            using Message message = await receiver.Socket.ReceiveAsync(limit.Token);
            if (message.ByteCount > 0)
            {
                Assert.Equal(1, message.PartCount);
                return message.GetString();
            }
        }
    }

    /// <summary>How many messages are there, but for probes.</summary>
    public static int Count(ServiceReceiver receiver)
    {
        int count = 0;
        while (receiver.Socket.TryReceive(out Message message))
        {
            count += message.ByteCount > 0 ? 1 : 0;
            message.Dispose();
        }

        return count;
    }

    public async ValueTask DisposeAsync()
    {
        for (int i = _parts.Count - 1; i >= 0; i--)
        {
            await _parts[i].DisposeAsync().Guarded();
        }

        await Fixture.DisposeAsync();
    }

    private T Own<T>(T part)
        where T : IAsyncDisposable
    {
        _parts.Add(part);
        return part;
    }
}
