using System.Net;
using System.Net.Sockets;
using Net.Zlink.Sockets.Endpoints;
using Net.Zlink.Transports;
using Net.Zlink.Transports.Tcp;
using Xunit;

namespace Net.Zlink.Tests.Transports;

/// <summary>What the tests of the tcp transport share.</summary>
internal static class TcpTest
{
    /// <summary>Longer than any wait takes on a busy machine: only a hang reaches it.</summary>
    public static readonly TimeSpan Guard = TimeSpan.FromSeconds(30);

    public static bool HasIPv6 { get; } = CanBindIPv6();

    public static EndpointError BindError(string text)
    {
        _ = TransportTable.TryParse(text, EndpointUse.Bind, out _, out EndpointError error);
        return error;
    }

    public static EndpointError ConnectError(string text)
    {
        _ = TransportTable.TryParse(text, EndpointUse.Connect, out _, out EndpointError error);
        return error;
    }

    public static TcpEndpoint ToBind(string text)
    {
        Assert.True(TransportTable.TryParse(text, EndpointUse.Bind, out TransportEndpoint endpoint, out EndpointError error),
            error.Sentence);
        return Assert.IsType<TcpEndpoint>(endpoint);
    }

    public static TcpEndpoint ToConnect(string text)
    {
        Assert.True(TransportTable.TryParse(text, EndpointUse.Connect, out TransportEndpoint endpoint, out EndpointError error),
            error.Sentence);
        return Assert.IsType<TcpEndpoint>(endpoint);
    }

    public static SocketListener Listen(
        string text,
        TcpSettings? settings = null,
        NameSource? names = null,
        DescriptorHeadroom? headroom = null,
        Func<Socket, ValueTask<Socket>>? accept = null)
    {
        var result = TcpBinder.Bind(With(names, ToBind(text)), settings ?? new TcpSettings(), upgrade: null, headroom, accept);
        Assert.True(result.Listener is not null, result.Error.Sentence);
        Assert.Equal(EndpointError.None, result.Error);
        return (SocketListener)result.Listener;
    }

    public static EndpointError RefusedBind(string text, TcpSettings? settings = null, NameSource? names = null)
    {
        var result = TcpBinder.Bind(With(names, ToBind(text)), settings ?? new TcpSettings(), upgrade: null);
        using var listener = result.Listener;
        Assert.Null(listener);
        return result.Error;
    }

    public static Task<DialResult> DialAsync(
        string text,
        TcpSettings? settings = null,
        TimeProvider? time = null,
        NameSource? names = null,
        Action<Socket>? onSocket = null,
        CancellationToken? cancellation = null,
        Action? connecting = null,
        DescriptorHeadroom? headroom = null) =>
        new TcpDialer(
            With(names, ToConnect(text)), settings ?? new TcpSettings(), time ?? TimeProvider.System, connecting,
            cancellation ?? TestContext.Current.CancellationToken)
        {
            Headroom = headroom ?? DescriptorHeadroom.OfThisProcess,
            OnSocket = onSocket,
        }
        .DialAsync().WaitAsync(Guard, TestContext.Current.CancellationToken);

    /// <summary>The same endpoint, which asks others for its name.</summary>
    public static TcpEndpoint With(NameSource? names, TcpEndpoint parsed) =>
        new(new EndpointText(parsed.Transport, parsed.Text, ""), parsed.Address, names);

    public static async Task<Socket> ConnectedAsync(string text, TcpSettings? settings = null, NameSource? names = null)
    {
        var result = await DialAsync(text, settings, names: names);
        Assert.True(result.Wire is not null, result.Sentence);
        Assert.Equal((SocketError.Success, ""), (result.Error, result.Sentence));
        return result.Socket()!;
    }

    /// <summary>Reads to the end: true when the other side closed in order, false when it reset.</summary>
    public static async Task<bool> EndsInOrderAsync(Socket socket)
    {
        try
        {
            return await socket.ReceiveAsync(new byte[1], TestContext.Current.CancellationToken)
                .AsTask().WaitAsync(Guard, TestContext.Current.CancellationToken) == 0;
        }
        catch (SocketException)
        {
            return false;
        }
    }

    /// <summary>A port of 127.0.0.1 on which nobody listens: it is bound, so nobody else can take it, but it does not listen.</summary>
    public static Socket DeadPort(out int port)
    {
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        socket.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        port = ((IPEndPoint)socket.LocalEndPoint!).Port;
        return socket;
    }

    public static bool IsOneLine(string sentence) =>
        sentence.Length is > 10 and < 300 && !sentence.Any(char.IsControl) && !sentence.EndsWith('.');

    private static bool CanBindIPv6()
    {
        if (!Socket.OSSupportsIPv6)
        {
            return false;
        }

        try
        {
            using var socket = new Socket(AddressFamily.InterNetworkV6, SocketType.Stream, ProtocolType.Tcp);
            socket.Bind(new IPEndPoint(IPAddress.IPv6Loopback, 0));
            return true;
        }
        catch (SocketException)
        {
            return false;
        }
    }
}
