using System.Net.Sockets;
using Net.Zlink.Sockets.Endpoints;
using Net.Zlink.Transports;
using Net.Zlink.Transports.Ipc;
using Xunit;

namespace Net.Zlink.Tests.Transports.Ipc;

/// <summary>A directory of a test's own for socket files, with what the tests of the ipc transport share; removed with all that is in
/// it.</summary>
internal sealed class IpcFolder : IDisposable
{
    private readonly List<IDisposable> _own = [];

    public IpcFolder()
    {
        Assert.SkipUnless(Socket.OSSupportsUnixDomainSockets, "no Unix domain sockets on this machine");
        Root = Directory.CreateTempSubdirectory("zl").FullName;
    }

    public string Root { get; }

    public string this[string name] => Path.Combine(Root, name);

    /// <summary>What is in the directory, by name.</summary>
    public string[] Names => [.. Directory.GetFileSystemEntries(Root).Select(static path => Path.GetFileName(path))
        .Order(StringComparer.Ordinal)];

    public static IpcEndpoint ToBind(string text)
    {
        Assert.True(TransportTable.TryParse($"ipc://{text}", EndpointUse.Bind, out TransportEndpoint endpoint, out EndpointError error),
            error.Sentence);
        return Assert.IsType<IpcEndpoint>(endpoint);
    }

    public static EndpointError RefusedBind(string text)
    {
        var result = IpcBinder.Bind(ToBind(text), new SocketSettings());
        using var listener = result.Listener;
        Assert.Null(listener);
        Assert.True(TcpTest.IsOneLine(result.Error.Sentence), result.Error.Sentence);
        return result.Error;
    }

    public static Task<DialResult> DialAsync(
        string text, SocketSettings? settings = null, TimeProvider? time = null, CancellationToken? cancellation = null,
            DescriptorHeadroom? headroom = null)
    {
        Assert.True(TransportTable.TryParse($"ipc://{text}", EndpointUse.Connect, out TransportEndpoint endpoint, out EndpointError error),
            error.Sentence);
        return IpcDialer.DialAsync(
                Assert.IsType<IpcEndpoint>(endpoint), settings ?? new SocketSettings(), time ?? TimeProvider.System,
                headroom ?? DescriptorHeadroom.OfThisProcess, connecting: null, cancellation ?? TestContext.Current.CancellationToken)
            .WaitAsync(TcpTest.Guard, TestContext.Current.CancellationToken);
    }

    public static async Task<Socket> ConnectedAsync(string text, SocketSettings? settings = null)
    {
        var result = await DialAsync(text, settings);
        Assert.True(result.Wire is not null, result.Sentence);
        return result.Socket()!;
    }

    /// <summary>Sends one byte each way.</summary>
    public static async Task BounceAsync(Socket one, Socket other)
    {
        foreach (var (from, to) in new[] { (one, other), (other, one) })
        {
            await from.SendAsync(new byte[] { 7 }, TestContext.Current.CancellationToken);
            var got = new byte[1];
            Assert.Equal(1, await to.ReceiveAsync(got, TestContext.Current.CancellationToken).AsTask()
                .WaitAsync(TcpTest.Guard, TestContext.Current.CancellationToken));
            Assert.Equal(7, got[0]);
        }
    }

    public SocketListener Listen(string text, SocketSettings? settings = null)
    {
        var result = IpcBinder.Bind(ToBind(text), settings ?? new SocketSettings());
        Assert.True(result.Listener is not null, result.Error.Sentence);
        Assert.Equal(EndpointError.None, result.Error);
        _own.Add(result.Listener);
        return (SocketListener)result.Listener;
    }

    /// <summary>A plain listening socket at a path, as another program would make it: like the native core it removes what is there
    /// first.</summary>
    public Socket Steal(string path, int backlog = 10)
    {
        File.Delete(path);
        var socket = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        _own.Add(socket);
        socket.Bind(new UnixDomainSocketEndPoint(path));
        socket.Listen(backlog);
        return socket;
    }

    /// <summary>A socket file whose process is gone.</summary>
    public void LeaveDeadFile(string path)
    {
        var elsewhere = $"{path}~";
        using (Steal(elsewhere))
        {
            File.Move(elsewhere, path); // the runtime removes the path that was bound, which is this one no more
        }
    }

    /// <summary>A listener whose queue has room for one, which is taken.</summary>
    public Socket Full(string path)
    {
        var listener = Steal(path, backlog: 0);
        var first = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        _own.Add(first);
        first.Connect(new UnixDomainSocketEndPoint(path));
        return listener;
    }

    public void Dispose()
    {
        _own.ForEach(static own => own.Dispose());
        Directory.Delete(Root, recursive: true);
    }
}
