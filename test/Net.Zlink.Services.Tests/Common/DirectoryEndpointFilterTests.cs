using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests;

/// <summary>What a directory may make a gateway dial.</summary>
public class DirectoryEndpointFilterTests
{
    [Theory]
    [InlineData("tcp://10.0.0.1:5555", true)]
    [InlineData("tcp://example.org:5555", true)]
    [InlineData("ws://10.0.0.1:80/path", true)]
    [InlineData("inproc://name", true)]
    [InlineData("tls://10.0.0.1:5555", false)]
    [InlineData("wss://10.0.0.1:443/path", false)]
    [InlineData("ipc:///var/run/docker.sock", false)]
    [InlineData("tcp://169.254.169.254:80", false)]
    [InlineData("tcp://[fe80::1]:5555", false)]
    [InlineData("tcp://[::ffff:169.254.169.254]:80", false)]
    [InlineData("tcp://224.0.0.1:5555", false)]
    [InlineData("tcp://[ff02::1]:5555", false)]
    [InlineData("tcp://255.255.255.255:5555", false)]
    [InlineData("no endpoint", true)]
    public void By_default_a_directory_of_the_network_lists_tcp_ws_and_inproc_at_ordinary_addresses(string endpoint, bool isAllowed)
    {
        var filter = new DirectoryEndpointFilter(new DirectoryEndpointOptions(), new TlsOptions());
        Assert.Equal(isAllowed, filter.WhyRefused(endpoint, DirectoryTrust.Network) is null);
        Assert.Null(filter.WhyRefused(endpoint, DirectoryTrust.Application));
    }

    [Fact]
    public void Ipc_is_for_directories_of_this_machine_and_tls_for_sockets_with_options_for_it()
    {
        var filter = new DirectoryEndpointFilter(new DirectoryEndpointOptions(), new TlsOptions { CaFile = "ca.pem" });
        Assert.Null(filter.WhyRefused("ipc:///tmp/x", DirectoryTrust.SameMachine));
        Assert.Null(filter.WhyRefused("tls://10.0.0.1:5555", DirectoryTrust.Network));
        Assert.Null(filter.WhyRefused("wss://10.0.0.1:443/x", DirectoryTrust.Network));
    }

    [Fact]
    public void Options_name_the_transports_allow_link_local_addresses_and_ask_the_application()
    {
        var options = new DirectoryEndpointOptions
        {
            AllowLinkLocal = true,
            Admission = static endpoint => endpoint.Port != 22,
            Transports = { "tcp", "ipc" },
        };
        options.Validate();
        var filter = new DirectoryEndpointFilter(options, new TlsOptions());
        Assert.Null(filter.WhyRefused("tcp://169.254.1.1:5555", DirectoryTrust.Network));
        Assert.Null(filter.WhyRefused("ipc:///tmp/x", DirectoryTrust.Network));
        Assert.NotNull(filter.WhyRefused("ws://10.0.0.1:80", DirectoryTrust.Network));
        Assert.NotNull(filter.WhyRefused("tcp://10.0.0.1:22", DirectoryTrust.Network));
        options.Transports.Add("udp");
        Assert.Throws<ArgumentException>(options.Validate);
    }

    [Theory]
    [InlineData("tcp://127.0.0.1:5560", true)]
    [InlineData("tcp://[::1]:5560", true)]
    [InlineData("tcp://localhost:5560", true)]
    [InlineData("ipc:///tmp/registry", true)]
    [InlineData("tcp://10.0.0.1:5560", false)]
    [InlineData("tcp://localhost.example.org:5560", false)]
    public void A_registry_is_of_this_machine_by_its_endpoint(string registry, bool isLocal)
    {
        using var context = new ZlinkContext();
        using var discovery = new RegistryDirectory(context);
        Assert.Equal(DirectoryTrust.Network, discovery.Trust);
        discovery.ConnectRegistry(registry);
        Assert.Equal(isLocal ? DirectoryTrust.SameMachine : DirectoryTrust.Network, discovery.Trust);
    }

    [Fact]
    public async Task A_refused_endpoint_is_not_dialled_says_why_and_the_others_are_served()
    {
        await using var fixture = new ContextFixture();
        using RawListener never = fixture.Listen();
        using RouterSocket good = fixture.Context.CreateRouter();
        var listed = new StaticDirectory();
        listed.SetService("svc", new ServiceInstance("svc", good.Bind("tcp://127.0.0.1:*")), new ServiceInstance("svc", never.Endpoint));
        await using var gateway = new ServiceGateway(fixture.Context, new FromElsewhere(listed), new ServiceGatewayOptions
        {
            DirectoryEndpoints = { Admission = endpoint => !string.Equals(endpoint.Text, never.Endpoint, StringComparison.Ordinal) },
        });
        ServiceClient client = gateway.GetClient("svc");
        await client.WaitUntilReadyAsync(1, Guard.Token).Guarded();

        ReceiverLinkInfo refused = gateway.GetReceivers().Single(
            receiver => string.Equals(receiver.Endpoint, never.Endpoint, StringComparison.Ordinal));
        Assert.Contains("Admission", refused.WhyNotReady, StringComparison.Ordinal);
        Assert.False(never.HasPending);
    }

    /// <summary>A list that others have made.</summary>
    private sealed class FromElsewhere(IServiceDirectory listed) : IServiceDirectory
    {
        public ServiceSnapshot GetService(string service) => listed.GetService(service);

        public IAsyncEnumerable<ServiceChange> WatchAsync(string? service = null, CancellationToken cancellationToken = default) =>
            listed.WatchAsync(service, cancellationToken);
    }
}
