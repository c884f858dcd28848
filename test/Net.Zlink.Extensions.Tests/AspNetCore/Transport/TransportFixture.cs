using System.Net;
using System.Net.Sockets;
using System.Text;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Testing;
using Net.Zlink.AspNetCore;
using Net.Zlink.Tests.Support;
using Xunit;

#pragma warning disable ZLINK100 // Experimental.

namespace Net.Zlink.Extensions.Tests.AspNetCore.Transport;

/// <summary>A web application over connections of the library, and clients of it. Its end looks for errors in the log.</summary>
internal sealed class TransportFixture : IAsyncDisposable
{
    // Tells of a server that cannot start.
    private const string HostCategory = "Microsoft.Extensions.Hosting.Internal.Host";

    private readonly TestCertificates _certificates = new();
    private WebApplication? _app;

    public TransportFixture() => Http = new HttpClient(new SocketsHttpHandler
    {
        SslOptions = { RemoteCertificateValidationCallback = static (_, _, _, _) => true },
    });

    public HttpClient Http { get; }

    public WebApplication App => _app!;

    /// <summary>With the real port.</summary>
    public Uri Address => new(App.Urls.First());

    public IReadOnlyList<FakeLogRecord> Log => App.Services.GetFakeLogCollector().GetSnapshot();

    /// <summary>Of a client that shuts down or resets its connection.</summary>
    public async Task<RawClient> ConnectAsync(string request)
    {
        var socket = new Socket(SocketType.Stream, ProtocolType.Tcp);
        await socket.ConnectAsync(Address.Host, Address.Port, Guard.Token);
        var client = new RawClient(socket);
        await client.SendAsync(request);
        return client;
    }

    public async Task StartAsync(
        Action<WebApplication> map,
        string url = "http://127.0.0.1:0",
        HttpProtocols protocols = HttpProtocols.Http1,
        Action<WebApplicationBuilder>? configure = null)
    {
        WebApplicationBuilder builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders().AddFakeLogging();
        builder.WebHost.UseKestrelHttpsConfiguration().UseUrls(url).UseZlinkTransport();
        builder.WebHost.ConfigureKestrel(kestrel =>
        {
            kestrel.ConfigureHttpsDefaults(https => https.ServerCertificate = _certificates.Server);
            kestrel.ConfigureEndpointDefaults(one => one.Protocols = protocols);
        });
        configure?.Invoke(builder);
        _app = builder.Build();
        map(_app);
        await _app.StartAsync(Guard.Token).Guarded();
    }

    public HttpRequestMessage Request(HttpMethod method, string path, HttpProtocols protocols, HttpContent? content = null) =>
        new(method, new Uri(Address, path))
        {
            Version = protocols == HttpProtocols.Http2 ? HttpVersion.Version20 : HttpVersion.Version11,
            VersionPolicy = HttpVersionPolicy.RequestVersionExact,
            Content = content,
        };

    public async ValueTask DisposeAsync()
    {
        Http.Dispose();
        if (_app is not null)
        {
            await _app.StopAsync(new CancellationToken(canceled: true));
            IReadOnlyList<FakeLogRecord> log = Log;
            await _app.DisposeAsync();
            Assert.DoesNotContain(log, static line => line.Level >= LogLevel.Error && line.Category is not HostCategory);
        }

        _certificates.Dispose();
    }
}

/// <summary>One connection, byte by byte.</summary>
internal sealed class RawClient(Socket socket) : IDisposable
{
    public Socket Socket => socket;

    public async Task SendAsync(string text) => await socket.SendAsync(Encoding.ASCII.GetBytes(text), Guard.Token);

    /// <summary>What comes until the server's end.</summary>
    public async Task<string> ReadToEndAsync()
    {
        var text = new StringBuilder();
        byte[] buffer = new byte[64 * 1024];
        while (await socket.ReceiveAsync(buffer, Guard.Token).Guarded() is > 0 and int length)
        {
            text.Append(Encoding.ASCII.GetString(buffer, 0, length));
        }

        return text.ToString();
    }

    public void Reset()
    {
        socket.LingerState = new LingerOption(enable: true, seconds: 0);
        socket.Dispose();
    }

    public void Dispose() => socket.Dispose();
}
