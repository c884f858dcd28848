using System.Net.Sockets;
using Net.Zlink.Sockets.Endpoints;
using Net.Zlink.Tests.Support;
using Net.Zlink.Transports;
using Net.Zlink.Transports.Ipc;
using Xunit;

namespace Net.Zlink.Tests.Transports.Ipc;

public sealed class IpcListenerTests : IDisposable
{
    private readonly IpcFolder _folder = new();
    private readonly RecordingSink _sink = new();

    [Theory]
    [InlineData("a.sock")]
    [InlineData("with blank")]
    [InlineData("ünïcode")]
    public async Task A_path_takes_connections_under_the_name_given_and_its_file_goes_at_close(string name)
    {
        var listener = _folder.Listen(_folder[name]);
        Assert.Equal($"ipc://{_folder[name]}", listener.Endpoint);
        Assert.NotEqual(0, listener.Handle);
        listener.Start(_sink, TimeProvider.System);
        using var client = await IpcFolder.ConnectedAsync(_folder[name]);
        var accepted = await _sink.NextAsync();
        Assert.False(accepted.Blocking);
        Assert.False(client.Blocking);
        await IpcFolder.BounceAsync(client, accepted);
        Assert.Equal([name], _folder.Names);

        listener.Dispose();
        listener.Dispose();
        Assert.Empty(_folder.Names);
        await IpcFolder.BounceAsync(client, accepted); // what was handed on lives on
        Assert.Equal(0, _sink.ClosedCount);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(30)]
    [InlineData(107)]
    public async Task A_client_that_has_a_name_of_its_own_is_accepted_however_long_that_is(int length)
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "NOT TESTED HERE: abstract names are Linux's");
        var listener = _folder.Listen(_folder["a"]);
        listener.Start(_sink, TimeProvider.System);
        using var client = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        var name = "\0" + Convert.ToHexString(Guid.NewGuid().ToByteArray()).PadRight(length, 'n')[..length];
        client.Bind(new UnixDomainSocketEndPoint(name));
        await client.ConnectAsync(new UnixDomainSocketEndPoint(_folder["a"]), Guard.Token);
        client.Blocking = false;
        var accepted = await _sink.NextAsync();
        Assert.Equal($"ipc://@{name[1..]}", IpcEndpoint.Format(accepted.RemoteEndPoint, EndpointText.Ipc, ""));
        await IpcFolder.BounceAsync(client, accepted);
    }

    [Fact]
    public async Task The_name_of_an_ipc_client_is_shown_without_control_characters()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "NOT TESTED HERE: abstract names are Linux's");
        var listener = _folder.Listen(_folder["a"]);
        listener.Start(_sink, TimeProvider.System);
        using var client = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        client.Bind(new UnixDomainSocketEndPoint($"\0{Guid.NewGuid()}\n\u001b[31mERROR forged"));
        await client.ConnectAsync(new UnixDomainSocketEndPoint(_folder["a"]), Guard.Token);
        Assert.EndsWith("??[31mERROR forged", IpcEndpoint.Format((await _sink.NextAsync()).RemoteEndPoint, EndpointText.Ipc, ""),
            StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_relative_path_is_one_of_the_working_directory()
    {
        var relative = Path.GetRelativePath(Environment.CurrentDirectory, _folder["r"]);
        var listener = _folder.Listen(relative);
        Assert.Equal($"ipc://{relative}", listener.Endpoint);
        Assert.Equal(["r"], _folder.Names);
        (await IpcFolder.ConnectedAsync(relative)).Dispose();
        (await IpcFolder.ConnectedAsync(_folder["r"])).Dispose();
        listener.Dispose();
        Assert.Empty(_folder.Names);
    }

    [Fact]
    public async Task A_path_of_107_bytes_works()
    {
        var path = _folder[new string('n', IpcAddress.LongestText - _folder.Root.Length - 1)];
        Assert.Equal(107, path.Length);
        Assert.SkipUnless(OperatingSystem.IsLinux(), "other systems have shorter addresses");
        _folder.Listen(path);
        (await IpcFolder.ConnectedAsync(path)).Dispose();
    }

    [Fact]
    public void Only_this_user_may_connect()
    {
        _folder.Listen(_folder["a"]);
        if (!OperatingSystem.IsWindows()) // which keeps rights elsewhere
        {
            Assert.Equal(UnixFileMode.UserRead | UnixFileMode.UserWrite, File.GetUnixFileMode(_folder["a"]));
        }
    }

    [Fact]
    public async Task Connections_that_came_before_the_start_are_not_lost()
    {
        var listener = _folder.Listen(_folder["a"]);
        using var client = await IpcFolder.ConnectedAsync(_folder["a"]);
        listener.Start(_sink, TimeProvider.System);
        await IpcFolder.BounceAsync(client, await _sink.NextAsync());
    }

    [Fact]
    public async Task Both_ends_get_the_buffer_sizes_asked_for()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "other systems round otherwise");
        var settings = new SocketSettings { SendBufferSize = 20_000, ReceiveBufferSize = 30_000 };
        var listener = _folder.Listen(_folder["a"], settings);
        listener.Start(_sink, TimeProvider.System);
        using var client = await IpcFolder.ConnectedAsync(_folder["a"], settings);
        foreach (var socket in new[] { client, await _sink.NextAsync() })
        {
            Assert.Equal((40_000, 60_000), (socket.SendBufferSize, socket.ReceiveBufferSize)); // Linux doubles what it is told
        }
    }

    [Fact]
    public async Task The_kernel_tells_who_is_at_the_other_end()
    {
        var listener = _folder.Listen(_folder["a"]);
        listener.Start(_sink, TimeProvider.System);
        using var client = await IpcFolder.ConnectedAsync(_folder["a"]);
        using var accepted = await _sink.NextAsync();
        if (OperatingSystem.IsLinux())
        {
            var ids = File.ReadLines("/proc/self/status")
                .Where(static line => line.StartsWith("Uid:", StringComparison.Ordinal)
                || line.StartsWith("Gid:", StringComparison.Ordinal))
                .Select(static line => line.Split('\t')[2]).ToArray(); // the effective ones
            var expected = $"localhost:{ids[0]}:{ids[1]}:{Environment.ProcessId}";
            Assert.Equal((expected, expected), (PeerAddressOf(accepted), PeerAddressOf(client)));
        }

        using var tcp = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        accepted.Dispose();
        Assert.Equal(("", ""), (PeerAddressOf(tcp), PeerAddressOf(accepted)));
    }

    [Fact]
    public async Task An_abstract_name_is_exactly_that_name_and_free_after_close()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "abstract names are Linux's");
        var name = $"@{Guid.NewGuid()}";
        var listener = _folder.Listen(name);
        Assert.Equal($"ipc://{name}", listener.Endpoint);
        using var raw = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        raw.Connect(new UnixDomainSocketEndPoint($"\0{name.AsSpan(1)}"));
        (await IpcFolder.ConnectedAsync(name)).Dispose();
        // a trailing zero would show as another "@"
        Assert.Contains(File.ReadLines("/proc/net/unix"), line => line.EndsWith($" {name}", StringComparison.Ordinal));
        Assert.Equal(ZlinkError.AddressInUse, IpcFolder.RefusedBind(name).Code);
        Assert.Equal(SocketError.ConnectionRefused, (await IpcFolder.DialAsync(name[..^1])).Error);

        listener.Dispose();
        Assert.Equal(SocketError.ConnectionRefused, (await IpcFolder.DialAsync(name)).Error);
        _folder.Listen(name);
    }

    [Fact]
    public void Abstract_names_are_refused_where_there_are_none()
    {
        Assert.SkipWhen(OperatingSystem.IsLinux(), "Linux has them");
        Assert.Equal(ZlinkError.ProtocolNotSupported, IpcFolder.RefusedBind("@name").Code);
    }

    [Fact]
    public void A_missing_directory_is_ENOENT()
    {
        var error = IpcFolder.RefusedBind(_folder["none/a"]);
        Assert.Equal((ZlinkError.NotFound, 2L), (error.Code, error.Errno));
        Assert.Contains("create it first", error.Sentence, StringComparison.Ordinal);
    }

    [Fact]
    public void A_file_where_a_directory_should_be_is_ENOTDIR()
    {
        Assert.SkipWhen(OperatingSystem.IsWindows(), "Windows has one error for both");
        File.WriteAllText(_folder["file"], "");
        var error = IpcFolder.RefusedBind(_folder["file/a"]);
        Assert.Equal((ZlinkError.NotADirectory, 20L), (error.Code, error.Errno));
    }

    public void Dispose()
    {
        _folder.Dispose();
        _sink.Dispose();
    }

    private static string PeerAddressOf(Socket socket) => new SocketWire(socket, TransportTable.Find(EndpointText.Ipc)!).PeerAddress;
}
