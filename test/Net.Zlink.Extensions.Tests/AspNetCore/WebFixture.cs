using System.Net.WebSockets;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Net.Zlink.Tests.Support;

namespace Net.Zlink.Extensions.Tests.AspNetCore;

/// <summary>A web application with endpoints of sockets, a context for those, and clients of it.</summary>
internal sealed class WebFixture : IAsyncDisposable
{
    // Without it a request of HTTP/2 fails.
    private readonly HttpMessageInvoker _http = new(new SocketsHttpHandler());
    private WebApplication? _app;

    public ZlinkContext Context { get; } = new();

    public WebApplication App => _app!;

    /// <summary>Of WebSockets, without a path.</summary>
    public string Address { get; private set; } = "";

    public async Task StartAsync(
        Action<WebApplication> map, Action<IServiceCollection>? add = null, HttpProtocols protocols = HttpProtocols.Http1)
    {
        WebApplicationBuilder builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        builder.WebHost.UseUrls("http://127.0.0.1:0");
        builder.WebHost.ConfigureKestrel(kestrel => kestrel.ConfigureEndpointDefaults(one => one.Protocols = protocols));
        add?.Invoke(builder.Services);
        _app = builder.Build();
        map(_app);
        await _app.StartAsync(Guard.Token).Guarded();
        Address = _app.Urls.Single().Replace("http://", "ws://", StringComparison.Ordinal);
    }

    public async Task<ClientWebSocket> ConnectAsync(string path, Action<ClientWebSocketOptions>? configure = null)
    {
        var socket = new ClientWebSocket();
        configure?.Invoke(socket.Options);
        await socket.ConnectAsync(new Uri(Address + path), _http, Guard.Token).Guarded();
        return socket;
    }

    public async ValueTask DisposeAsync()
    {
        if (_app is not null)
        {
            await _app.DisposeAsync();
        }

        _http.Dispose();
        await Context.DisposeAsync();
    }
}
