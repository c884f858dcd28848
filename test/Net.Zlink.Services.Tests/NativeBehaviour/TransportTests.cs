using System.Security.Cryptography.X509Certificates;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests;

/// <summary>Each role over each transport, configured by the core's own options.</summary>
public class TransportTests
{
    [Theory]
    [InlineData("tcp://127.0.0.1:*")]
    [InlineData("ipc://*")]
    [InlineData("tls://127.0.0.1:*")]
    [InlineData("ws://127.0.0.1:*/path")]
    [InlineData("wss://127.0.0.1:*/path")]
    public async Task Registry_receiver_discovery_and_gateway_meet(string endpoint)
    {
        using var certificates = new TestCertificates();
        await using var fixture = new ContextFixture();
        X509Certificate2 client = certificates.Issue("CN=client", ["client", "127.0.0.1"]);

        // Mutual: each listener asks for a certificate, and takes only those of the authority.
        void Listen(SocketOptions options)
        {
            options.Tls.Certificate = certificates.Server;
            options.Tls.RequireClientCertificate = true;
            (options.Tls.CaFile, options.Tls.TrustSystem) = (certificates.CaFile, false);
        }

        void Connect(SocketOptions options)
        {
            options.Tls.Certificate = client;
            (options.Tls.CaFile, options.Tls.TrustSystem) = (certificates.CaFile, false);
        }

        RegistrationRequest? seen = null;
        await using var registry = new ServiceRegistry(fixture.Context, new ServiceRegistryOptions
        {
            PublisherEndpoint = endpoint,
            RouterEndpoint = endpoint,
            Admission = (request, _) =>
            {
                seen = request;
                return default;
            },
        }.With(options => Listen(options.PublisherSocket)).With(options => Listen(options.RouterSocket)));
        registry.Start();
        await using var discovery = new RegistryDirectory(
            fixture.Context, options: new RegistryDirectoryOptions().With(options => Connect(options.Socket)));
        discovery.ConnectRegistry(registry.PublisherEndpoint);
        await using var receiver = new ServiceReceiver(fixture.Context,
            new ServiceReceiverOptions().With(options => Listen(options.Socket)).With(options => Connect(options.RegistrySocket)));
        string bound = receiver.Bind(endpoint);
        receiver.ConnectRegistry(registry.RouterEndpoint);

        await receiver.RegisterAsync("echo", weight: 3, cancellationToken: Guard.Token).Guarded();
        ServiceSnapshot echo = await discovery.WaitForAsync("echo", cancellationToken: Guard.Token).Guarded();

        Assert.Equal([new ServiceInstance("echo", bound) { RoutingId = StableRoutingId.Of(bound), Weight = 3 }], echo.Instances);
        Assert.NotNull(seen);
        _ = receiver.ServeAsync(static (request, cancellationToken) => request.ReplyAsync(request.Memory, cancellationToken),
            cancellationToken: Guard.Token);
        await using var gateway =
            new ServiceGateway(fixture.Context, discovery, new ServiceGatewayOptions().With(options => Connect(options.Socket)));
        using ServiceReply reply = await gateway.GetClient("echo").RequestAsync("over it"u8.ToArray(), Guard.Limit, Guard.Token).Guarded();
        Assert.Equal(("over it", bound), (System.Text.Encoding.UTF8.GetString(reply.Span), reply.Receiver.Endpoint));
    }

    [Fact]
    public async Task A_receiver_without_a_certificate_does_not_reach_a_registry_that_asks_for_one()
    {
        using var certificates = new TestCertificates();
        await using var fixture = new ContextFixture();
        await using var registry = new ServiceRegistry(fixture.Context, new ServiceRegistryOptions
        {
            PublisherEndpoint = "tcp://127.0.0.1:*",
            RouterEndpoint = "tls://127.0.0.1:*",
            RouterSocket =
            {
                Tls =
                {
                    Certificate = certificates.Server, RequireClientCertificate = true, CaFile = certificates.CaFile, TrustSystem = false,
                },
            },
        });
        registry.Start();
        await using var receiver = new ServiceReceiver(fixture.Context,
            new ServiceReceiverOptions { RegistrySocket = { Tls = { CaFile = certificates.CaFile, TrustSystem = false } } });
        receiver.ConnectRegistry(registry.RouterEndpoint);
        ServiceRegistration registration = receiver.Register("echo", "tcp://127.0.0.1:5");
        await Guard.UntilAsync(() => registration.State == RegistrationState.Unreachable, "the registry refuses the connection");
        Assert.NotEmpty(registration.GetRegistries()[0].Detail);
    }
}
