using System.Net.Sockets;
using Net.Zlink.Tests.Support;
using Net.Zlink.Transports;
using Xunit;

namespace Net.Zlink.Tests.Transports.Ipc;

public sealed class IpcDialerTests : IDisposable
{
    private readonly IpcFolder _folder = new();

    [Fact]
    public async Task A_missing_path_and_a_dead_file_are_refused_and_the_sentence_tells_which()
    {
        _folder.LeaveDeadFile(_folder["dead"]);
        var missing = await IpcFolder.DialAsync(_folder["missing"]);
        var dead = await IpcFolder.DialAsync(_folder["dead"]);
        Assert.Equal((SocketError.ConnectionRefused, SocketError.ConnectionRefused), (missing.Error, dead.Error));
        Assert.Contains("there is nothing at", missing.Sentence, StringComparison.Ordinal);
        Assert.Contains("no process listens at", dead.Sentence, StringComparison.Ordinal);
        Assert.Equal(["dead"], _folder.Names); // a dial removes nothing
    }

    [Fact]
    public async Task A_file_that_is_no_socket_and_a_datagram_socket_are_refused()
    {
        Assert.SkipWhen(OperatingSystem.IsWindows(), "no datagram sockets of this family there");
        await File.WriteAllTextAsync(_folder["file"], "", TestContext.Current.CancellationToken);
        using var datagram = new Socket(AddressFamily.Unix, SocketType.Dgram, ProtocolType.Unspecified);
        datagram.Bind(new UnixDomainSocketEndPoint(_folder["datagram"]));
        foreach (var name in new[] { "file", "datagram", "file/below" })
        {
            var result = await IpcFolder.DialAsync(_folder[name]);
            Assert.Null(result.Wire);
            Assert.NotEqual(SocketError.Success, result.Error);
            Assert.True(TcpTest.IsOneLine(result.Sentence), result.Sentence);
        }
    }

    [Fact]
    public async Task A_full_queue_is_waited_for_with_growing_pauses()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "other systems refuse connections when the queue is full");
        var time = new ManualTimeProvider();
        using var listener = _folder.Full(_folder["a"]);
        var dialling = IpcFolder.DialAsync(_folder["a"], time: time);
        await MoveAsync(time, dialling, TimeSpan.FromMilliseconds(1), steps: 40);
        Assert.False(dialling.IsCompleted);
        listener.Accept().Dispose();
        await MoveAsync(time, dialling, TimeSpan.FromMilliseconds(32), steps: 10);
        var result = await dialling;
        using var socket = result.Socket();
        Assert.True(socket is not null, result.Sentence);
        Assert.Equal(0, time.ArmedTimers);
    }

    [Theory]
    [InlineData(50, 50)]
    [InlineData(0, 127_000)]
    public async Task A_full_queue_is_given_up_at_the_connect_timeout(int timeoutMilliseconds, int expectedMilliseconds)
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "other systems refuse connections when the queue is full");
        var time = new ManualTimeProvider();
        using var listener = _folder.Full(_folder["a"]);
        var dialling = IpcFolder.DialAsync(_folder["a"],
            new SocketSettings { ConnectTimeout = TimeSpan.FromMilliseconds(timeoutMilliseconds) }, time);
        time.Advance(TimeSpan.FromMilliseconds(expectedMilliseconds - 1));
        await MoveAsync(time, dialling, TimeSpan.Zero, steps: 5);
        Assert.False(dialling.IsCompleted);
        time.Advance(TimeSpan.FromMilliseconds(1));
        var result = await dialling;
        Assert.Equal((null, SocketError.TimedOut), (result.Wire, result.Error));
        Assert.Contains($"within {expectedMilliseconds} ms", result.Sentence, StringComparison.Ordinal);
        Assert.Equal(0, time.ArmedTimers);
    }

    [Fact]
    public async Task Cancellation_ends_a_dial_before_and_while_it_waits()
    {
        using var listener = _folder.Full(_folder["a"]);
        Assert.Equal(SocketError.OperationAborted,
            (await IpcFolder.DialAsync(_folder["a"], cancellation: new CancellationToken(canceled: true))).Error);
        Assert.SkipUnless(OperatingSystem.IsLinux(), "other systems refuse connections when the queue is full");
        using var cancellation = new CancellationTokenSource();
        var dialling = IpcFolder.DialAsync(_folder["a"], time: new ManualTimeProvider(), cancellation: cancellation.Token);
        Assert.False(dialling.IsCompleted);
        await cancellation.CancelAsync();
        Assert.Equal(SocketError.OperationAborted, (await dialling).Error);
    }

    public void Dispose() => _folder.Dispose();

    /// <summary>Moves the clock in steps, each once a pause is set: the limit's timer and the pause's are two.</summary>
    private static async Task MoveAsync(ManualTimeProvider time, Task dialling, TimeSpan step, int steps)
    {
        for (var i = 0; i < steps && !dialling.IsCompleted; i++)
        {
            var started = TimeProvider.System.GetTimestamp();
            while (time.ArmedTimers < 2 && !dialling.IsCompleted)
            {
                Assert.True(TimeProvider.System.GetElapsedTime(started) < TcpTest.Guard, "no pause is set");
                await Task.Yield();
            }

            time.Advance(step);
        }
    }
}
