using System.Globalization;
using System.Net.Sockets;
using System.Text;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Logging;
using Net.Zlink;
using Net.Zlink.AspNetCore;

namespace Samples.WebSocketChat;

/// <summary>Hands out the one page and its script, and accepts the page's WebSockets for the chat. Pages of other hosts are
/// refused.</summary>
internal sealed class PageServer : IAsyncDisposable
{
    private readonly WebApplication _web;

    private PageServer(WebApplication web) => _web = web;

    /// <summary>What to type into a browser.</summary>
    public string Address => _web.Urls.Single();

    /// <summary>Cancelled when the process is asked to end: Kestrel's host listens for SIGTERM as well as Ctrl-C.</summary>
    public CancellationToken Stopping => _web.Lifetime.ApplicationStopping;

    /// <summary>Where the page connects to.</summary>
    public string Endpoint => $"{Address.Replace("http:", "ws:", StringComparison.Ordinal)}/chat";

    /// <exception cref="IOException">The port is in use, or not to be had; the message says what to do.</exception>
    public static async Task<PageServer> StartAsync(int port, StreamSocket stream, StreamHandler room)
    {
        WebApplicationBuilder builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        builder.WebHost.UseUrls(string.Create(CultureInfo.InvariantCulture, $"http://127.0.0.1:{port}"));
        WebApplication web = builder.Build();
        string html = await ReadAsync("page.html").ConfigureAwait(false);
        web.MapGet("/", () => Results.Content(html, "text/html; charset=utf-8"));
        web.MapZlinkScript();
        web.MapZlink("/chat", stream, room);
        try
        {
            await web.StartAsync().ConfigureAwait(false);
        }
        catch (Exception e) when (e is IOException or SocketException)
        {
            await web.DisposeAsync().ConfigureAwait(false);
            throw new IOException(string.Create(CultureInfo.InvariantCulture,
                $"the page cannot be at http://127.0.0.1:{port}: {e.GetBaseException().Message}; choose another port with --port, 0 for "
                + $"any free one"), e);
        }

        return new PageServer(web);
    }

    public ValueTask DisposeAsync() => _web.DisposeAsync();

    private static async Task<string> ReadAsync(string name)
    {
        using var reader = new StreamReader(typeof(PageServer).Assembly.GetManifestResourceStream(name)!, Encoding.UTF8);
        return await reader.ReadToEndAsync().ConfigureAwait(false);
    }
}
