using System.Buffers.Binary;
using System.Text;
using Net.Zlink.Interop.Tests.Native;
using Net.Zlink.Interop.Tests.Support;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Interop.Tests.Peers;

/// <summary>A native STREAM that listens, and one of ours that connects to it. There is no other way round: a native STREAM does not
/// connect.</summary>
internal sealed class StreamLink : IAsyncDisposable
{
    private readonly TestEndpoint _endpoint;
    private readonly ZlinkContext _context = new();
    private NativeContext _nativeContext;

    public StreamLink(TestTransport transport)
    {
        _endpoint = new TestEndpoint(transport);
        Client = _context.CreateStream();
        Client.Options.Linger = TimeSpan.Zero;
        if (_endpoint.Certificates is { } certificates)
        {
            Client.Options.Tls.CaFile = certificates.CaFile;
        }

        (_nativeContext, Server, Monitor) = CreateServer();
    }

    /// <summary>The native socket; one thread at a time.</summary>
    public NativeSocket Server { get; private set; }

    /// <summary>The native socket's monitor.</summary>
    public NativeMonitor Monitor { get; private set; }

    public StreamSocket Client { get; }

    public TestCertificates? Certificates => _endpoint.Certificates;

    /// <summary>Where the native socket is bound.</summary>
    public string Bound { get; private set; } = "";

    /// <summary>A payload that is no event and no command, whatever its size: it does not begin with 00 or 01.</summary>
    public static byte[] Payload(int number, int size) => TestPayload.Make((0x55L << 56) | (uint)number, size);

    public StreamLink Bind()
    {
        Server.Bind(Bound.Length == 0 ? _endpoint.Text : Bound);
        Bound = Server.LastEndpoint;
        return this;
    }

    /// <summary>Connects one peer more; its ids here and there.</summary>
    public async Task<(uint Here, uint There)> ConnectAsync()
    {
        uint here = await Client.ConnectAsync(Bound, Limits.Token).AsTask().Guarded();
        Assert.Equal((here, StreamMessageKind.Connected, ""), await NextAsync());
        return (here, NextConnectedAtServer());
    }

    public uint NextConnectedAtServer()
    {
        (uint id, byte[] payload) = NextAtServer();
        Assert.Equal([1], payload);
        return id;
    }

    public uint NextDisconnectedAtServer()
    {
        (uint id, byte[] payload) = NextAtServer();
        Assert.Equal([0], payload);
        return id;
    }

    public (uint Id, byte[] Payload) NextAtServer() => NextAtServer(Limits.Wait)
        ?? throw new InvalidOperationException("nothing came to the native socket");

    public (uint Id, byte[] Payload)? NextAtServer(TimeSpan timeout)
    {
        if (Server.Receive(timeout) is not { } parts)
        {
            return null;
        }

        Assert.Equal(2, parts.Length);
        return (BinaryPrimitives.ReadUInt32BigEndian(parts[0]), parts[1]);
    }

    public void SendFromServer(uint id, byte[] payload)
    {
        byte[] to = new byte[sizeof(uint)];
        BinaryPrimitives.WriteUInt32BigEndian(to, id);
        Assert.Equal(NativeSendResult.Sent, Server.Send([to, payload], Limits.Wait));
    }

    /// <summary>Our next message: from whom, what it is, and its payload as text.</summary>
    public async Task<(uint Id, StreamMessageKind Kind, string Text)> NextAsync()
    {
        using StreamMessage message = await Client.ReceiveAsync(Limits.Token).AsTask().Guarded();
        return (message.PeerId, message.Kind, Encoding.UTF8.GetString(message.Span));
    }

    /// <summary>Our next message, which must be data.</summary>
    public async Task<byte[]> NextDataAsync(uint id)
    {
        using StreamMessage message = await Client.ReceiveAsync(Limits.Token).AsTask().Guarded();
        Assert.Equal((id, StreamMessageKind.Data), (message.PeerId, message.Kind));
        return message.Span.ToArray();
    }

    /// <summary>Ends the native socket with its context, as the end of its process would.</summary>
    public void KillServer()
    {
        Server.Dispose();
        _nativeContext.Dispose();
    }

    /// <summary>Another native socket at the same endpoint.</summary>
    public void RestartServer()
    {
        (_nativeContext, Server, Monitor) = CreateServer();
        Bind();
    }

    public async ValueTask DisposeAsync()
    {
        await _context.DisposeAsync();
        KillServer();
        _endpoint.Dispose();
    }

    private (NativeContext Context, NativeSocket Server, NativeMonitor Monitor) CreateServer()
    {
        var context = new NativeContext();
        NativeSocket server = context.CreateSocket(NativeSocketType.Stream);
        server.SetOption(NativeOption.Linger, 0);
        if (_endpoint.Certificates is { } certificates)
        {
            server.SetOption(NativeOption.TlsCert, Encoding.UTF8.GetBytes(certificates.CertificateFile));
            server.SetOption(NativeOption.TlsKey, Encoding.UTF8.GetBytes(certificates.KeyFile));
        }

        return (context, server, server.OpenMonitor());
    }
}
