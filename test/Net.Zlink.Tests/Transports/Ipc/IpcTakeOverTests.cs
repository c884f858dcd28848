using System.Diagnostics;
using System.Net.Sockets;
using Net.Zlink.Transports;
using Net.Zlink.Transports.Ipc;
using Xunit;

namespace Net.Zlink.Tests.Transports.Ipc;

/// <summary>Whose file is deleted: a dead one at bind, our own at close, and no other ever.</summary>
public sealed class IpcTakeOverTests : IDisposable
{
    private readonly IpcFolder _folder = new();

    [Fact]
    public async Task A_file_that_a_dead_process_left_is_taken_over()
    {
        _folder.LeaveDeadFile(_folder["a"]);
        Assert.Equal(["a"], _folder.Names);
        var listener = _folder.Listen(_folder["a"]);
        (await IpcFolder.ConnectedAsync(_folder["a"])).Dispose();
        Assert.Equal(["a"], _folder.Names);
        listener.Dispose();
        Assert.Empty(_folder.Names);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_path_at_which_somebody_listens_is_not_stolen(bool isFull)
    {
        using var native = isFull ? _folder.Full(_folder["a"]) : _folder.Steal(_folder["a"]);
        var error = IpcFolder.RefusedBind(_folder["a"]);
        Assert.Equal((ZlinkError.AddressInUse, 98L), (error.Code, error.Errno));
        Assert.Contains("another socket listens", error.Sentence, StringComparison.Ordinal);
        Assert.Equal(["a"], _folder.Names);
        Assert.True(native.Poll(TcpTest.Guard, SelectMode.SelectRead));
        native.Accept().Dispose(); // it still has its path, and its queue

        using var client = await IpcFolder.ConnectedAsync(_folder["a"]);
    }

    [Fact]
    public void A_path_that_is_bound_but_not_listened_at_yet_is_not_stolen()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "only Linux lists its sockets");
        using var starting = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        starting.Bind(new UnixDomainSocketEndPoint(_folder["a"]));
        Assert.Contains("took", IpcFolder.RefusedBind(_folder["a"]).Sentence, StringComparison.Ordinal);
        Assert.Equal(["a"], _folder.Names);
    }

    [Fact]
    public void A_connection_that_outlives_its_listener_does_not_keep_the_path()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "only Linux lists its sockets");
        using var client = IpcAddress.Open();
        using Socket accepted = AcceptedByOneThatDies(client);
        Assert.Equal(["a"], _folder.Names);
        Assert.Contains(File.ReadLines("/proc/net/unix"), line => line.EndsWith($" {_folder["a"]}", StringComparison.Ordinal));
        _folder.Listen(_folder["a"]);
    }

    [Fact]
    public void An_abstract_name_that_ends_like_the_path_does_not_keep_it()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "abstract names are Linux's");
        using var somebodys = IpcAddress.Open();
        somebodys.Bind(new UnixDomainSocketEndPoint($"\0x {_folder["a"]}"));
        somebodys.Listen();
        _folder.LeaveDeadFile(_folder["a"]);
        _folder.Listen(_folder["a"]);
    }

    [Theory]
    [InlineData("00000000aa: 00000002 00000000 00010000 0001 01 56468670 /tmp/a b", true)] // it listens
    [InlineData("00000000aa: 00000002 00000000 00010000 0001 01  1056 /tmp/a b", true)]
    [InlineData("00000000aa: 00000002 00000000 00000000 0001 01 56468670 /tmp/a b", true)] // it is bound, and will listen
    [InlineData("00000000aa: 00000003 00000000 00000000 0001 03 56468670 /tmp/a b", false)] // it was accepted
    [InlineData("00000000aa: 00000003 00000000 00000000 0001 02     0 /tmp/a b", false)] // it waits to be
    [InlineData("00000000aa: 00000002 00000000 00010000 0001 01 56468670 /tmp/a b c", false)]
    [InlineData("00000000aa: 00000002 00000000 00010000 0001 01 56468670 @x /tmp/a b", false)]
    [InlineData("00000000aa: 00000002 00000000 00010000 0001 01 56468670 ./tmp/a b", false)]
    [InlineData("00000000aa: 00000002 00000000 00010000 0001 01 56468670", false)]
    [InlineData("00000000aa: 00000002 00000000 00010000 0001 01 56468670 ", false)]
    [InlineData("Num       RefCount Protocol Flags    Type St Inode Path", false)]
    [InlineData("", false)]
    public void A_path_is_held_by_a_socket_of_just_that_path_which_listens_or_will(string line, bool holds) =>
        Assert.Equal(holds, StaleFile.OwnsPath(line, "/tmp/a b"));

    [Fact]
    public void Our_own_path_cannot_be_bound_twice_and_can_be_again_after_close()
    {
        var first = _folder.Listen(_folder["a"]);
        Assert.Equal(ZlinkError.AddressInUse, IpcFolder.RefusedBind(_folder["a"]).Code);
        first.Dispose();
        _folder.Listen(_folder["a"]);
    }

    [Theory]
    [InlineData("file", "is not a socket")]
    [InlineData("empty", "is not a socket")]
    [InlineData("directory", "is a directory or a link")]
    [InlineData("link", "is a directory or a link")]
    [InlineData("linkToDeadSocket", "is a directory or a link")]
    [InlineData("danglingLink", "is a directory or a link")]
    [InlineData("pipe", "is not a socket")]
    public async Task A_file_that_is_no_socket_is_not_deleted_by_a_bind(string kind, string sentence)
    {
        Assert.SkipWhen(OperatingSystem.IsWindows(), "made with POSIX calls");
        var path = _folder["a"];
        switch (kind)
        {
            case "file":
                await File.WriteAllTextAsync(path, "precious", TestContext.Current.CancellationToken);
                break;
            case "empty":
                await File.WriteAllTextAsync(path, "", TestContext.Current.CancellationToken);
                break;
            case "directory":
                Directory.CreateDirectory(path);
                break;
            case "linkToDeadSocket":
                _folder.LeaveDeadFile(_folder["target"]);
                File.CreateSymbolicLink(path, _folder["target"]);
                break;
            case "pipe":
                using (var mkfifo = Process.Start("mkfifo", path))
                {
                    await mkfifo.WaitForExitAsync(TestContext.Current.CancellationToken);
                }

                break;
            default:
                File.CreateSymbolicLink(path, kind is "link" ? "/etc/hostname" : _folder["nothing"]);
                break;
        }

        var before = (_folder.Names, File.GetAttributes(path), File.GetLastWriteTimeUtc(path));
        var error = IpcFolder.RefusedBind(path);
        Assert.Equal(ZlinkError.AddressInUse, error.Code);
        Assert.Contains(sentence, error.Sentence, StringComparison.Ordinal);
        Assert.Equal(before.Names, _folder.Names);
        Assert.Equal((before.Item2, before.Item3), (File.GetAttributes(path), File.GetLastWriteTimeUtc(path)));
        if (kind is "file")
        {
            Assert.Equal("precious", await File.ReadAllTextAsync(path, TestContext.Current.CancellationToken));
        }
    }

    [Fact]
    public async Task A_successors_socket_survives_our_close()
    {
        for (var i = 0; i < 50; i++)
        {
            var ours = _folder.Listen(_folder["a"]);
            using var successor = _folder.Steal(_folder["a"]); // within the same tick of the file system's clock
            ours.Dispose();
            (await IpcFolder.ConnectedAsync(_folder["a"])).Dispose();
        }
    }

    [Fact]
    public void A_successor_that_is_one_of_ours_survives_too()
    {
        var first = _folder.Listen(_folder["a"]);
        File.Delete(_folder["a"]);
        var second = _folder.Listen(_folder["a"]);
        first.Dispose();
        Assert.Equal(["a"], _folder.Names);
        second.Dispose();
        Assert.Empty(_folder.Names);
    }

    [Fact]
    public void A_file_that_is_gone_at_close_is_no_error_and_neither_is_its_directory()
    {
        Directory.CreateDirectory(_folder["d"]);
        var one = _folder.Listen(_folder["d/a"]);
        var other = _folder.Listen(_folder["b"]);
        Directory.Delete(_folder["d"], recursive: true);
        File.Delete(_folder["b"]);
        one.Dispose();
        other.Dispose();
        Assert.Empty(_folder.Names);
    }

    [Fact]
    public async Task Of_two_that_bind_a_dead_path_at_once_at_most_one_serves_it()
    {
        for (var round = 0; round < 100; round++)
        {
            _folder.LeaveDeadFile(_folder["a"]);
            // not of this very tick of the clock
            File.SetLastWriteTimeUtc(_folder["a"], File.GetLastWriteTimeUtc(_folder["a"]).AddHours(-1));
            using var start = new ManualResetEventSlim();
            var binds = Enumerable.Range(0, 2).Select(_ => Task.Factory.StartNew(
                () =>
                {
                    start.Wait(TestContext.Current.CancellationToken);
                    return IpcBinder.Bind(IpcFolder.ToBind(_folder["a"]), new SocketSettings());
                },
                TestContext.Current.CancellationToken,
                TaskCreationOptions.LongRunning,
                TaskScheduler.Default)).ToArray();
            start.Set();
            var results = await Task.WhenAll(binds).WaitAsync(TcpTest.Guard, TestContext.Current.CancellationToken);
            var bound = results.Where(static result => result.Listener is not null).ToArray();
            Assert.InRange(bound.Length, 0, 1); // none: each stood in another's way for a moment, and said so
            Assert.All(results.Where(static result => result.Listener is null),
                static result => Assert.Equal(ZlinkError.AddressInUse, result.Error.Code));
            if (bound.Length == 1)
            {
                (await IpcFolder.ConnectedAsync(_folder["a"])).Dispose();
                bound[0].Listener!.Dispose();
            }

            File.Delete(_folder["a"]);
            Assert.Empty(_folder.Names);
        }
    }

    public void Dispose() => _folder.Dispose();

    private Socket AcceptedByOneThatDies(Socket client)
    {
        using var listener = IpcAddress.Open();
        var endPoint = new UnixBindEndPoint(new UnixDomainSocketEndPoint(_folder["a"])); // so that the file stays
        listener.Bind(endPoint);
        endPoint.OnBound();
        listener.Listen();
        client.Connect(new UnixDomainSocketEndPoint(_folder["a"]));
        return listener.Accept();
    }
}
