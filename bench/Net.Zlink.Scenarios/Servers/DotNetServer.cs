using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using System.Net.WebSockets;
using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Scenarios.Wire;
using Samples;

namespace Net.Zlink.Scenarios.Servers;

/// <summary>
/// What plain .NET can do, written as well as we can. Over tcp: SocketAsyncEventArgs, zero-byte receives, one read buffer per thread, and
/// an answer in one call straight out of it.
/// Over TLS and WebSocket: a task per connection on SslStream and ManagedWebSocket.
/// </summary>
internal sealed class DotNetServer : IEchoServer
{
    private readonly Socket _listener;
    private readonly Address _address;
    private readonly CancellationTokenSource _end = new();
    private readonly Task _accepting;
    private readonly SslServerAuthenticationOptions? _tls;
    private long _connections;

    private DotNetServer(Socket listener, Address address)
    {
        _listener = listener;
        _address = address;
        _tls = address.IsTls
            ? new SslServerAuthenticationOptions { ServerCertificate = CertificateMaker.Make($"CN={address.Host}", [address.Host]) }
            : null;
        Endpoint = address.WithPort(((IPEndPoint)listener.LocalEndPoint!).Port).ToString();
        _accepting = Task.Run(AcceptAsync);
    }

    public string Endpoint { get; }

    public static async Task<DotNetServer> StartAsync(Address address, ServerSettings settings)
    {
        IPEndPoint endPoint = await address.ResolveAsync(CancellationToken.None);
        var listener = new Socket(endPoint.AddressFamily, SocketType.Stream, ProtocolType.Tcp);
        try
        {
            listener.Bind(endPoint);
            listener.Listen(settings.Backlog);
        }
        catch (SocketException e)
        {
            listener.Dispose();
            throw new RequestException($"Cannot listen on {address}: {e.Message}", e);
        }

        return new DotNetServer(listener, address);
    }

    public ServerCounts GetCounts() => new(Interlocked.Read(ref _connections), Dropped: null);

    public async ValueTask DisposeAsync()
    {
        await _end.CancelAsync();
        _listener.Dispose();
        await _accepting;
        _end.Dispose();
    }

    private async Task AcceptAsync()
    {
        while (!_end.IsCancellationRequested)
        {
            try
            {
                Socket socket = await _listener.AcceptAsync(_end.Token);
                Interlocked.Increment(ref _connections);
                if (_address.IsPlain)
                {
                    // The first read is the pool's: accepting goes on meanwhile.
                    ThreadPool.UnsafeQueueUserWorkItem(static connection => connection.Start(), new EchoConnection(socket, this),
                        preferLocal: false);
                }
                else
                {
                    _ = ServeAsync(socket);
                }
            }
            catch (Exception e) when (e is OperationCanceledException or ObjectDisposedException)
            {
                return;
            }
            catch (SocketException)
            {
                // This one connection; the client counts it.
            }
        }
    }

    private async Task ServeAsync(Socket socket)
    {
        try
        {
            socket.NoDelay = true;
            Stream stream = new NetworkStream(socket, ownsSocket: true);
            if (_tls is not null)
            {
                var tls = new SslStream(stream);
                stream = tls;
                await tls.AuthenticateAsServerAsync(_tls, _end.Token);
            }

            if (_address.IsWebSocket)
            {
                stream = WebSocketStream.Create(await WebSocketUpgrade.AsServerAsync(stream, _end.Token), WebSocketMessageType.Binary,
                    ownsWebSocket: true);
            }

            await using (stream)
            {
                await StreamEcho.RunAsync(stream);
            }
        }
        catch (Exception e) when (IoStreamErrors.IsOfConnection(e))
        {
            socket.Dispose();
        }
        finally
        {
            Interlocked.Decrement(ref _connections);
        }
    }

    private sealed class EchoConnection(Socket socket, DotNetServer server) : RawConnection(socket)
    {
        protected override bool ReadsWhileSending => false;

        protected override int OnBytes(ReadOnlySpan<byte> bytes)
        {
            int whole = Frames.WholeLength(bytes);
            if (whole < 0)
            {
                Close(SocketError.ProtocolNotSupported);
                return 0;
            }

            Send(bytes[..whole]);
            return whole;
        }

        protected override void OnWritable()
        {
        }

        protected override void OnClosed(SocketError error) => Interlocked.Decrement(ref server._connections);
    }
}
