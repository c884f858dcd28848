using System.Net.Sockets;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Http;
using Net.Zlink.AspNetCore;
using Net.Zlink.Tests.Support;
using Xunit;

#pragma warning disable ZLINK100 // Experimental.

namespace Net.Zlink.Extensions.Tests.AspNetCore.Transport;

/// <summary>Where a web application listens.</summary>
public sealed class TransportAddressTests
{
    [Theory]
    [InlineData("http://127.0.0.1:0", "127.0.0.1")]
    [InlineData("http://[::1]:0", "[::1]")]
    [InlineData("http://0.0.0.0:0", "127.0.0.1")]
    [InlineData("http://*:0", "127.0.0.1")]
    [InlineData("http://*:0", "[::1]")]
    public async Task An_application_is_reached_at_each_kind_of_address_and_tells_its_real_port(string url, string host)
    {
        Assert.SkipUnless(Socket.OSSupportsIPv6 || !url.Contains(':', StringComparison.Ordinal), "IPv6");
        await using var web = new TransportFixture();
        await web.StartAsync(app => app.MapGet("/", static (HttpContext context) => context.Connection.LocalPort), url);
        int port = BindingAddress.Parse(web.App.Urls.Single()).Port;
        Assert.NotEqual(0, port);
        Assert.Equal($"{port}", await web.Http.GetStringAsync(new Uri($"http://{host}:{port}/"), Guard.Token).Guarded());
    }

    [Fact]
    public async Task An_application_is_reached_over_a_Unix_socket()
    {
        string folder = Directory.CreateTempSubdirectory("zlink-unix-").FullName;
        try
        {
            string path = Path.Combine(folder, "web");
            await using var web = new TransportFixture();
            await web.StartAsync(app => app.MapGet("/", static () => "hello"), $"http://unix:{path}");
            using var http = new HttpClient(new SocketsHttpHandler
            {
                ConnectCallback = async (_, cancellation) =>
                {
                    var socket = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
                    await socket.ConnectAsync(new UnixDomainSocketEndPoint(path), cancellation);
                    return new NetworkStream(socket, ownsSocket: true);
                },
            });
            Assert.Equal("hello", await http.GetStringAsync(new Uri("http://localhost/"), Guard.Token).Guarded());
        }
        finally
        {
            Directory.Delete(folder, recursive: true);
        }
    }

    [Fact]
    public async Task A_port_that_is_in_use_fails_as_with_Kestrels_own_transport()
    {
        await using var first = new TransportFixture();
        await first.StartAsync(static _ => { });
        await using var second = new TransportFixture();
        IOException failure = await Assert.ThrowsAsync<IOException>(() => second.StartAsync(static _ => { }, first.Address.ToString()));
        Assert.IsType<AddressInUseException>(failure.InnerException);
    }

    [Fact]
    public async Task Options_of_the_sockets_are_those_of_the_application()
    {
        await using var web = new TransportFixture();
        await web.StartAsync(
            static _ => { },
            configure: static builder => builder.WebHost.UseZlinkTransport(static options => options.MaxConnections = 1));
        using RawClient first = await web.ConnectAsync("");
        using RawClient second = await web.ConnectAsync("");
        Assert.Equal("", await second.ReadToEndAsync());
    }
}
