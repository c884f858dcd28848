using System.Net.Security;
using System.Net.Sockets;
using System.Net.WebSockets;
using System.Security.Cryptography.X509Certificates;
using Net.Zlink.Tests.Support;

namespace Net.Zlink.Tests.Transports;

/// <summary>A client over tls, ws or wss made of the base library alone: bytes, whatever carries them. Each write is a record or a message
/// of its own.</summary>
internal sealed class LayeredClient : IDisposable
{
    private readonly Socket? _socket;
    private readonly SslStream? _tls;
    private readonly ClientWebSocket? _webSocket;

    private LayeredClient(Socket socket, SslStream tls) => (_socket, _tls) = (socket, tls);

    private LayeredClient(ClientWebSocket webSocket) => _webSocket = webSocket;

    /// <summary>Takes whatever certificate there is.</summary>
    public static RemoteCertificateValidationCallback AnyCertificate { get; } = static (_, _, _, errors) =>
        errors != SslPolicyErrors.RemoteCertificateNotAvailable;

    /// <summary>Connects, handshakes included; any certificate will do. The own one is for tls only.</summary>
    public static async Task<LayeredClient> ConnectAsync(string endpoint, X509Certificate2? certificate = null)
    {
        var uri = new Uri(endpoint);
        if (uri.Scheme is "ws" or "wss")
        {
            var webSocket = new ClientWebSocket();
            webSocket.Options.Proxy = null;
            webSocket.Options.RemoteCertificateValidationCallback = AnyCertificate;
            await webSocket.ConnectAsync(uri, Guard.Token).Guarded();
            return new LayeredClient(webSocket);
        }

        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        await socket.ConnectAsync(uri.Host, uri.Port, Guard.Token).Guarded();
        var tls = new SslStream(new NetworkStream(socket, ownsSocket: true));
        await tls.AuthenticateAsClientAsync(new SslClientAuthenticationOptions
        {
            TargetHost = "localhost",
            RemoteCertificateValidationCallback = AnyCertificate,
            ClientCertificateContext = certificate is null ? null : SslStreamCertificateContext.Create(certificate, null, offline: true),
        }, Guard.Token).Guarded();
        return new LayeredClient(socket, tls);
    }

    public Task SendAsync(byte[] bytes) => _tls is null
        ? _webSocket!.SendAsync(bytes, WebSocketMessageType.Binary, endOfMessage: true, Guard.Token).Guarded()
        : _tls.WriteAsync(bytes, Guard.Token).Guarded();

    /// <summary>That many bytes; fewer at the end.</summary>
    public async Task<byte[]> ReadAsync(int count)
    {
        byte[] bytes = new byte[count];
        int read = 0;
        int more;
        while (read < count && (more = await ReadSomeAsync(bytes.AsMemory(read))) > 0)
        {
            read += more;
        }

        return bytes[..read];
    }

    /// <summary>What still comes before the other side ends the connection, in order or not.</summary>
    public Task<byte[]> ReadToEndAsync() => ReadAsync(1024 * 1024); // More than any test leaves unread.

    /// <summary>Says goodbye, as the transport has it, and nothing more.</summary>
    public async Task EndAsync()
    {
        if (_tls is null)
        {
            await _webSocket!.CloseOutputAsync(WebSocketCloseStatus.NormalClosure, "bye", Guard.Token).Guarded();
        }
        else
        {
            await _tls.ShutdownAsync().Guarded();
            _socket!.Shutdown(SocketShutdown.Send);
        }
    }

    /// <summary>Breaks the connection, without a goodbye.</summary>
    public void Cut()
    {
        if (_tls is null)
        {
            _webSocket!.Abort();
        }
        else
        {
            _socket!.LingerState = new LingerOption(enable: true, seconds: 0); // Closing resets.
            _socket.Dispose();
        }
    }

    public void Dispose()
    {
        _tls?.Dispose();
        _webSocket?.Dispose();
    }

    private async Task<int> ReadSomeAsync(Memory<byte> memory)
    {
        try
        {
            if (_tls is not null)
            {
                return await _tls.ReadAsync(memory, Guard.Token).Guarded();
            }

            ValueWebSocketReceiveResult result = await _webSocket!.ReceiveAsync(memory, Guard.Token).Guarded();
            return result.MessageType == WebSocketMessageType.Close ? 0 : result.Count;
        }
        catch (Exception e) when (e is IOException or WebSocketException)
        {
            return 0; // Without a goodbye.
        }
    }
}
