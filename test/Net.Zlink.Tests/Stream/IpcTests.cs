using System.Net.Sockets;
using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Net.Zlink.Tests.Transports.Ipc;
using Xunit;

namespace Net.Zlink.Tests.Stream;

/// <summary>STREAM over ipc: the same frames, peers and events as over tcp.</summary>
public sealed class IpcTests : IDisposable
{
    private readonly IpcFolder _folder = new();

    [Theory]
    [InlineData("path")]
    [InlineData("abstract")]
    [InlineData("wildcard")]
    public async Task Frames_of_every_size_are_echoed(string kind)
    {
        Assert.SkipWhen(kind is "abstract" && !OperatingSystem.IsLinux(), "abstract names are Linux's");
        await using var fixture = new StreamFixture();
        StreamSocket server = fixture.Context.CreateStream();
        string given = kind switch { "path" => $"ipc://{_folder["a"]}", "abstract" => $"ipc://@{Guid.NewGuid()}", _ => "ipc://*" };
        string endpoint = server.Bind(given, TestHandler.Echo());
        Assert.Equal(kind is "wildcard", !string.Equals(given, endpoint, StringComparison.Ordinal));
        Assert.Equal(endpoint, server.LastEndpoint);
        StreamSocket client = fixture.Context.CreateStream();
        uint id = await client.ConnectAsync(endpoint, Guard.Token).Guarded();
        Assert.Equal(endpoint, client.LastEndpoint);
        Assert.Equal(id, await client.NextConnectedAsync());
        foreach (int size in new[] { 0, 1, 100, 8192, 65_536, 1_000_000 })
        {
            byte[] payload = Wire.Pattern(size, seed: size);
            client.To(id).Send(payload);
            Assert.Equal(payload, await client.NextDataAsync(id));
        }

        server.Dispose();
        Assert.Equal((id, DisconnectReason.Remote), await client.NextDisconnectedAsync());
    }

    [Fact]
    public async Task A_STREAM_socket_connects_to_itself_over_ipc()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Context.CreateStream();
        string endpoint = socket.Bind($"ipc://{_folder["a"]}");
        uint outgoing = await socket.ConnectAsync(endpoint, Guard.Token).Guarded();
        uint[] ids = [await socket.NextConnectedAsync(), await socket.NextConnectedAsync()];
        uint incoming = Assert.Single(ids, id => id != outgoing);
        socket.To(outgoing).Send([1]);
        Assert.Equal([1], await socket.NextDataAsync(incoming));
    }

    [Fact]
    public async Task A_plain_program_sees_a_length_and_the_payload_and_an_orderly_end()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Context.CreateStream();
        socket.Bind($"ipc://{_folder["a"]}");
        RawPeer peer = await ConnectRawAsync(fixture);
        uint id = await socket.NextConnectedAsync();
        await peer.SendAsync(Wire.Frames([1, 2], [3]));
        Assert.Equal([1, 2], await socket.NextDataAsync(id));
        Assert.Equal([3], await socket.NextDataAsync(id));
        socket.To(id).Send([4]);
        Assert.True(socket.Disconnect(id));
        Assert.Equal(Wire.Frame([4]), await peer.ReadToEndAsync());
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Unbind_takes_the_text_given_or_the_one_returned_and_removes_the_file(bool byReturnedText)
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Context.CreateStream();
        string endpoint = socket.Bind("ipc://*");
        string path = endpoint["ipc://".Length..];
        uint id = await ConnectedAsync(fixture, socket, endpoint);
        Assert.Equal(ZlinkError.NotFound, Assert.Throws<ZlinkException>(() => socket.Unbind($"{endpoint}x")).Error);
        Assert.Equal(ZlinkError.InvalidArgument, Assert.Throws<ZlinkException>(() => socket.Unbind("ipc://@")).Error);
        socket.Unbind(byReturnedText ? endpoint : "ipc://*");
        Assert.Equal((id, DisconnectReason.Local), await socket.NextDisconnectedAsync());
        Assert.False(File.Exists(path));
        Assert.False(Directory.Exists(Path.GetDirectoryName(path)));
        Assert.Equal(ZlinkError.NotFound, Assert.Throws<ZlinkException>(() => socket.Unbind(endpoint)).Error);
    }

    [Fact]
    public async Task The_end_of_the_socket_removes_its_file_but_not_a_successors()
    {
        await using var fixture = new StreamFixture();
        StreamSocket ours = fixture.Context.CreateStream();
        ours.Bind($"ipc://{_folder["kept"]}");
        ours.Bind($"ipc://{_folder["removed"]}");
        using Socket successor = _folder.Steal(_folder["kept"]);
        ours.Dispose();
        Assert.Equal(["kept"], _folder.Names);
        RawPeer peer = fixture.Own(new RawPeer(await IpcFolder.ConnectedAsync(_folder["kept"])));
        Assert.True(peer.Socket.Connected);
    }

    [Fact]
    public async Task Refused_binds_and_connects_have_the_systems_code_and_say_what_to_do()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Context.CreateStream();
        using EventReader monitor = socket.ReadEvents();
        await File.WriteAllTextAsync(_folder["file"], "", Guard.Token);
        Check($"ipc://{_folder["none/a"]}", ZlinkError.NotFound, "create it first");
        SocketEvent failed = await monitor.NextAsync(SocketEventTypes.BindFailed);
        Assert.Equal((2L, _folder["none/a"]), (failed.Value, failed.LocalAddress));
        Check($"ipc://{_folder["file"]}", ZlinkError.AddressInUse, "is not a socket");
        Check($"ipc://{new string('x', 108)}", ZlinkError.NameTooLong, "use a shorter path");
        Check("ipc://@", ZlinkError.InvalidArgument, "write ipc://@name");
        Check("ipc://", ZlinkError.InvalidArgument, "ipc://path");
        if (!OperatingSystem.IsWindows())
        {
            Check($"ipc://{_folder["file/a"]}", ZlinkError.NotADirectory, "choose another path");
        }

        string missing = $"ipc://{_folder["missing"]}";
        ZlinkException thrown = await Assert.ThrowsAsync<ZlinkException>(() => socket.ConnectAsync(missing, Guard.Token).Guarded());
        Assert.Equal(ZlinkError.ConnectionRefused, thrown.Error);
        Assert.Contains("start the server", thrown.Message, StringComparison.Ordinal);
        Assert.Equal("", socket.LastEndpoint);

        void Check(string endpoint, ZlinkError error, string advice)
        {
            ZlinkException refused = Assert.Throws<ZlinkException>(() => socket.Bind(endpoint));
            Assert.True(error == refused.Error, refused.Message);
            Assert.EndsWith($"({error})", refused.Message, StringComparison.Ordinal);
            Assert.Contains(advice, refused.Message, StringComparison.Ordinal);
        }
    }

    [Fact]
    public async Task Events_name_the_path_and_the_unnamed_other_end_as_the_native_core_does()
    {
        await using var fixture = new StreamFixture();
        StreamSocket server = fixture.Context.CreateStream();
        using EventReader monitor = server.ReadEvents();
        string endpoint = server.Bind($"ipc://{_folder["a"]}");
        Assert.Equal(endpoint, (await monitor.NextAsync(SocketEventTypes.Listening)).LocalAddress);
        StreamSocket client = fixture.Context.CreateStream();
        using EventReader clients = client.ReadEvents();
        await client.ConnectAsync(endpoint, Guard.Token).Guarded();
        SocketEvent accepted = await monitor.NextAsync(SocketEventTypes.Accepted);
        Assert.Equal((endpoint, "ipc://"), (accepted.LocalAddress, accepted.RemoteAddress));
        SocketEvent connected = await clients.NextAsync(SocketEventTypes.Connected);
        Assert.Equal(("ipc://", endpoint), (connected.LocalAddress, connected.RemoteAddress));
    }

    [Fact]
    public async Task A_lost_connection_is_made_anew_when_the_path_is_back()
    {
        await using var fixture = new StreamFixture();
        StreamSocket server = fixture.Context.CreateStream();
        string endpoint = server.Bind($"ipc://{_folder["a"]}");
        StreamSocket client = fixture.Context.CreateStream();
        using EventReader monitor = client.ReadEvents();
        var options = new StreamConnectOptions { Reconnect = true, ReconnectInterval = TimeSpan.FromMilliseconds(1) };
        Assert.Equal(1u, await client.ConnectAsync(endpoint, options, Guard.Token).Guarded());
        server.Unbind(endpoint);
        await monitor.NextAsync(SocketEventTypes.ConnectRetried);
        await monitor.NextAsync(SocketEventTypes.Closed); // an attempt at a path that is not there
        server.Bind(endpoint);
        await monitor.NextAsync(SocketEventTypes.Connected);
        await fixture.UntilAsync(() => client.PeerCount == 1);
    }

    [Fact]
    public async Task More_connects_at_once_than_the_backlog_holds_all_succeed()
    {
        await using var fixture = new StreamFixture();
        StreamSocket server = fixture.Context.CreateStream(new StreamOptions { Backlog = 1 });
        string endpoint = server.Bind($"ipc://{_folder["a"]}", TestHandler.Echo());
        StreamSocket client = fixture.Context.CreateStream();
        Task<uint>[] dials = [.. Enumerable.Range(0, 50)
            .Select(_ => Task.Run(() => client.ConnectAsync(endpoint, Guard.Token).AsTask(), Guard.Token))];
        uint[] ids = await Task.WhenAll(dials).Guarded();
        Assert.Equal(50, ids.Distinct().Count());
        await fixture.UntilAsync(() => server.PeerCount == 50);
    }

    [Fact]
    public async Task A_pipe_of_bytes_works_over_ipc()
    {
        await using var fixture = new StreamFixture();
        StreamSocket server = fixture.Context.CreateStream();
        string endpoint = server.BindPipe($"ipc://{_folder["a"]}", static pipe => pipe.Input.CopyToAsync(pipe.Output, Guard.Token));
        StreamSocket client = fixture.Context.CreateStream();
        await using StreamPipe pipe = await client.ConnectPipeAsync(endpoint, Guard.Token).Guarded();
        await pipe.Output.WriteAsync(Wire.Pattern(100_000), Guard.Token).Guarded();
        await pipe.Output.CompleteAsync();
        using var all = new MemoryStream();
        await pipe.Input.CopyToAsync(all, Guard.Token).Guarded();
        Assert.Equal(Wire.Pattern(100_000), all.ToArray());
    }

    public void Dispose() => _folder.Dispose();

    private static async Task<uint> ConnectedAsync(StreamFixture fixture, StreamSocket server, string endpoint)
    {
        await fixture.Context.CreateStream().ConnectAsync(endpoint, Guard.Token).Guarded();
        return await server.NextConnectedAsync();
    }

    private async Task<RawPeer> ConnectRawAsync(StreamFixture fixture) =>
        fixture.Own(new RawPeer(await IpcFolder.ConnectedAsync(_folder["a"])));
}
