using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;
using Net.Zlink.Interop.Tests.Support;

namespace Net.Zlink.Interop.Tests.Differential;

/// <summary>A raw peer's connection: bytes there and back over tcp, ipc or TLS. One thread at a time.</summary>
internal sealed class RawLine : IDisposable
{
    private readonly Socket _socket;
    private readonly Stream _stream;
    private readonly byte[] _buffer = new byte[65536];
    private Task<int>? _reading;

    private RawLine(Socket socket, Stream stream, string name, Task? handshake)
    {
        _socket = socket;
        _stream = stream;
        Name = name;
        try
        {
            handshake?.Wait(Limits.Token);
        }
        catch (AggregateException e) when (e.InnerException is IOException or AuthenticationException)
        {
            IsOver = true;
        }
    }

    /// <summary>As the other side's events name it.</summary>
    public string Name { get; }

    /// <summary>The other side has ended the connection, be it in order or by a reset.</summary>
    public bool IsOver { get; private set; }

    /// <summary>Connects to an endpoint.</summary>
    public static RawLine Connect(TestTransport transport, string endpoint)
    {
        Socket socket = MakeSocket(transport);
        socket.Connect(AddressOf(transport, endpoint));

        // Who is connected to knows peers of ipc by its own name.
        string name = transport is TestTransport.Ipc ? endpoint : $"{SchemeOf(transport)}://{socket.LocalEndPoint}";
        var stream = new NetworkStream(socket);
        if (transport is not (TestTransport.Tls or TestTransport.Wss))
        {
            return new RawLine(socket, stream, name, handshake: null);
        }

        var tls = new SslStream(stream);
        return new RawLine(socket, tls, name, tls.AuthenticateAsClientAsync(
            new SslClientAuthenticationOptions
            {
                TargetHost = "localhost",
                RemoteCertificateValidationCallback = static (_, _, _, _) => true
            }));
    }

    /// <summary>Listens at the endpoint, or at a port of its own.</summary>
    public static (Socket Listener, string Endpoint) Listen(TestTransport transport, string endpoint)
    {
        Socket listener = MakeSocket(transport);
        listener.Bind(AddressOf(transport, endpoint));
        listener.Listen();
        return (listener, transport is TestTransport.Ipc ? endpoint
            : $"{SchemeOf(transport)}://{listener.LocalEndPoint}{PathOf(endpoint)}");
    }

    /// <summary>Takes one that connects, or returns null if nobody does in time.</summary>
    public static RawLine? Accept(TestEndpoint at, Socket listener, string endpoint, TimeSpan limit)
    {
        if (!listener.Poll(limit, SelectMode.SelectRead))
        {
            return null;
        }

        Socket socket = listener.Accept();
        var stream = new NetworkStream(socket);
        if (at.Certificates is not { } certificates)
        {
            return new RawLine(socket, stream, endpoint, handshake: null);
        }

        var tls = new SslStream(stream);
        return new RawLine(socket, tls, endpoint, tls.AuthenticateAsServerAsync(certificates.Server));
    }

    public void Write(ReadOnlySpan<byte> bytes)
    {
        try
        {
            if (!IsOver && !bytes.IsEmpty)
            {
                _stream.Write(bytes);
            }
        }
        catch (IOException)
        {
            // Ended by the other side; what it said before is still read.
        }
    }

    /// <summary>What has come, waiting so long for it; empty: nothing, or the end.</summary>
    public ReadOnlySpan<byte> Read(TimeSpan limit)
    {
        if (IsOver)
        {
            return default;
        }

        try
        {
            _reading ??= _stream.ReadAsync(_buffer).AsTask();
            if (!_reading.Wait(limit, Limits.Token))
            {
                return default;
            }

            int read = _reading.Result;
            _reading = null;
            IsOver = read == 0;
            return _buffer.AsSpan(0, read);
        }
        catch (AggregateException e) when (e.InnerException is IOException or ObjectDisposedException)
        {
            IsOver = true;
            return default;
        }
    }

    /// <summary>Ends the connection, in order (and without a word of TLS) or by a reset.</summary>
    public void End(bool resets)
    {
        if (resets)
        {
            _socket.LingerState = new LingerOption(enable: true, 0);
        }

        _socket.Dispose();
    }

    public void Dispose()
    {
        _socket.Dispose();
        _stream.Dispose();
    }

    private static Socket MakeSocket(TestTransport transport) =>
        transport is TestTransport.Ipc ? new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified)
        : new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };

    private static EndPoint AddressOf(TestTransport transport, string endpoint)
    {
        string rest = endpoint[(SchemeOf(transport).Length + "://".Length)..];
        return transport is TestTransport.Ipc ? new UnixDomainSocketEndPoint(rest) : IPEndPoint.Parse(rest.Split('/')[0]);
    }

    private static string PathOf(string endpoint)
    {
        int slash = endpoint.IndexOf('/', endpoint.IndexOf("://", StringComparison.Ordinal) + "://".Length);
        return slash < 0 ? "" : endpoint[slash..];
    }

    private static string SchemeOf(TestTransport transport) => transport.ToString().ToLowerInvariant();
}
