using System.Net;
using System.Net.Sockets;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.ServiceDiscovery;
using Net.Zlink.Extensions.ServiceDiscovery;
using Net.Zlink.Services;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Discovery.Tests.ServiceDiscovery;

/// <summary>Both directions, with the real resolver and its configuration provider.</summary>
public sealed class ServiceDiscoveryTests : IAsyncDisposable
{
    private readonly ZlinkContext _context = new();

    public ValueTask DisposeAsync() => _context.DisposeAsync();

    [Fact]
    public async Task A_dealer_follows_a_changed_configuration_from_one_router_to_another()
    {
        (RouterSocket first, RouterSocket second) = (_context.CreateRouter(), _context.CreateRouter());
        IConfigurationRoot configuration = Configuration(("Services:orders:tcp:0", Authority(first.Bind("tcp://127.0.0.1:*"))));
        await using ServiceProvider provider = Provider(configuration);
        IServiceDirectory directory = provider.GetRequiredService<IServiceDirectory>();
        DealerSocket dealer = _context.CreateDealer(new DealerOptions { Immediate = true });
        await using var follower = new ServiceFollower(_context, dealer, directory, "orders");
        await dealer.SendAsync("1"u8.ToArray(), Guard.Token).Guarded();
        Assert.Equal("1", await NextAsync(first));

        string next = second.Bind("tcp://127.0.0.1:*");
        configuration["Services:orders:tcp:0"] = Authority(next);
        configuration.Reload();

        // The routers say who is connected: at the dealer the list of endpoints changes before the connections do.
        await Guard.UntilAsync(() => first.PeerCount == 0 && second.PeerCount == 1, "the dealer is connected to the second router alone");
        await dealer.SendAsync("2"u8.ToArray(), Guard.Token).Guarded();
        Assert.Equal("2", await NextAsync(second));
    }

    [Fact]
    public async Task A_gateway_finds_receivers_by_addresses_names_and_whole_endpoints()
    {
        await using var receiver = new ServiceReceiver(_context);
        string bound = receiver.Bind("tcp://127.0.0.1:*");
        Task serving = receiver.ServeAsync(
            static (request, cancellation) => request.ReplyAsync(request.Memory, cancellation), cancellationToken: Guard.Token);
        await using ServiceProvider provider = Provider(Configuration(
            ("Services:echo:tcp:0", bound), ("Services:mixed:tcp:0", "10.0.0.1:1"), ("Services:mixed:tcp:1", "[fd00::1]:2"),
            ("Services:mixed:tcp:2", "some.host:3"), ("Services:mixed:tcp:3", "tcp://other.host:4")));
        IServiceDirectory directory = provider.GetRequiredService<IServiceDirectory>();
        await using var gateway = new ServiceGateway(_context, directory);
        ServiceClient client = gateway.GetClient("echo");
        await client.WaitUntilReadyAsync(cancellationToken: Guard.Token).Guarded();
        using (ServiceReply reply = await client.RequestAsync("hello"u8.ToArray(), cancellationToken: Guard.Token).Guarded())
        {
            Assert.Equal("hello"u8, reply.Span);
        }

        ServiceSnapshot mixed = await directory.WaitForAsync("mixed", 4, Guard.Token).Guarded();
        Assert.Equal(["tcp://10.0.0.1:1", "tcp://[fd00::1]:2", "tcp://other.host:4", "tcp://some.host:3"],
            mixed.Instances.Select(static instance => instance.Endpoint), StringComparer.Ordinal);
        await receiver.DisposeAsync();
        await serving.Guarded();
    }

    [Fact]
    public async Task A_service_that_nobody_configures_has_no_instance_and_disposal_ends_the_enumerations()
    {
        ServiceProvider provider = Provider(Configuration());
        var directory = (ServiceDiscoveryDirectory)provider.GetRequiredService<IServiceDirectory>();
        ValueTask<ServiceSnapshot> waiting = directory.WaitForAsync("nobody", cancellationToken: Guard.Token);
        Assert.False(directory.GetService("nobody").IsAvailable);
        await directory.DisposeAsync().Guarded();
        await Assert.ThrowsAsync<ObjectDisposedException>(() => waiting.Guarded());
        await provider.DisposeAsync().Guarded();
    }

    [Fact]
    public async Task An_http_client_finds_a_service_in_a_zlink_directory_and_follows_its_changes()
    {
        using HttpListener first = Listen(out string firstAddress);
        using HttpListener second = Listen(out string secondAddress);
        var zlink = new StaticDirectory(new ServiceInstance("catalog", "tcp://10.0.0.1:1"), new ServiceInstance("catalog", firstAddress));
        var services = new ServiceCollection();
        services.AddLogging().AddSingleton<IConfiguration>(Configuration(("Services:other:http:0", Authority(secondAddress))));
        services.AddZlinkServiceEndpointProvider(_ => zlink);
        services.AddHttpClient("catalog", static http => http.BaseAddress = new Uri("http://catalog/")).AddServiceDiscovery();
        services.AddHttpClient("other", static http => http.BaseAddress = new Uri("http://other/")).AddServiceDiscovery();
        await using ServiceProvider provider = services.BuildServiceProvider();
        IHttpClientFactory clients = provider.GetRequiredService<IHttpClientFactory>();
        Assert.Equal(firstAddress, await AskAsync(clients.CreateClient("catalog"), first, firstAddress));
        Assert.Equal(secondAddress, await AskAsync(clients.CreateClient("other"), second, secondAddress));

        zlink.SetService("catalog", new ServiceInstance("catalog", secondAddress));
        ServiceEndpointResolver resolver = provider.GetRequiredService<ServiceEndpointResolver>();
        while (true)
        {
            ServiceEndpointSource source = await resolver.GetEndpointsAsync("http://catalog", Guard.Token).Guarded();
            if (source.Endpoints is [{ EndPoint: UriEndPoint { Uri: var uri } }] && uri == new Uri(secondAddress))
            {
                break;
            }

            await Task.Yield();
        }
    }

    private static async Task<string> AskAsync(HttpClient client, HttpListener listener, string answer)
    {
        Task<string> asking = client.GetStringAsync(new Uri("/", UriKind.Relative), Guard.Token);
        HttpListenerContext request = await listener.GetContextAsync().Guarded();
        await using (Stream body = request.Response.OutputStream)
        {
            await body.WriteAsync(System.Text.Encoding.UTF8.GetBytes(answer), Guard.Token);
        }

        return await asking.Guarded();
    }

    private static HttpListener Listen(out string address)
    {
        for (int attempt = 0; ; attempt++)
        {
            using var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
            socket.Bind(new IPEndPoint(IPAddress.Loopback, 0));
            address = $"http://127.0.0.1:{((IPEndPoint)socket.LocalEndPoint!).Port}";
            socket.Dispose();
            var listener = new HttpListener();
            listener.Prefixes.Add(address + "/");
            try
            {
                listener.Start();
                return listener;
            }
            catch (HttpListenerException) when (attempt < 5)
            {
                listener.Close(); // Another process has taken the port.
            }
        }
    }

    private static IConfigurationRoot Configuration(params (string Key, string Value)[] values) => new ConfigurationBuilder()
        .AddInMemoryCollection(values.Select(static pair => KeyValuePair.Create(pair.Key, (string?)pair.Value))).Build();

    private static string Authority(string endpoint) => new Uri(endpoint).Authority;

    private static async Task<string> NextAsync(RouterSocket router)
    {
        using Message message = await router.ReceiveAsync(Guard.Token).Guarded();
        return message.GetString();
    }

    private ServiceProvider Provider(IConfiguration configuration)
    {
        var services = new ServiceCollection();
        services.AddLogging().AddSingleton(configuration).AddSingleton(_context);
        services.AddZlinkServiceDiscoveryDirectory();
        return services.BuildServiceProvider();
    }
}
