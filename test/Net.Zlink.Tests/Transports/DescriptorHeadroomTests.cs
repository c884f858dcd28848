using System.Net.Sockets;
using Net.Zlink.Tests.Support;
using Net.Zlink.Tests.Transports.Ipc;
using Net.Zlink.Transports;
using Xunit;

namespace Net.Zlink.Tests.Transports;

public sealed class DescriptorHeadroomTests
{
    private static readonly TimeSpan FirstBackOff = TimeSpan.FromMilliseconds(10);

    [Theory]
    [InlineData("Max cpu time              unlimited            unlimited            seconds\n"
        + "Max open files            20000                524288               files\n", 20000L)]
    [InlineData("Max open files            unlimited            unlimited            files", null)]
    [InlineData("Max open files            ", null)]
    [InlineData("Max processes             100                  100                  processes", null)]
    [InlineData("", null)]
    public void The_soft_limit_is_read_from_the_systems_text(string text, long? limit) =>
        Assert.Equal(limit, DescriptorHeadroom.ParseLimit(text));

    [Theory]
    [InlineData(64, 40)]
    [InlineData(256, 232)]
    [InlineData(448, 420)]
    [InlineData(512, 480)]
    [InlineData(1024, 992)]
    [InlineData(1_000_000, 999_968)]
    public void The_last_descriptors_are_left_alone_a_sixteenth_of_all_but_not_too_few_nor_too_many(long limit, long start) =>
        Assert.Equal(start, new DescriptorHeadroom(limit).Start);

    [Fact]
    public void The_number_of_a_new_socket_is_far_from_the_headroom()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "sockets are not numbered from the lowest free number here");
        using var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        Assert.False(new DescriptorHeadroom(1_000_000).IsTouchedBy(socket));
        Assert.True(DescriptorHeadroom.OfThisProcess.IsFree());
    }

    [Fact]
    public async Task A_listener_hands_on_the_connection_that_reached_the_headroom_and_accepts_the_next_when_there_is_room()
    {
        using var sink = new RecordingSink();
        var clock = new ManualTimeProvider();
        var headroom = new FakeHeadroom { IsTouched = true };
        var script = new ScriptedAccept();
        using var listener = TcpTest.Listen("tcp://127.0.0.1:0", headroom: headroom, accept: script.Accept);
        listener.Start(sink, clock);

        using var first = await TcpTest.ConnectedAsync(listener.Endpoint);
        await sink.NextAsync();
        Assert.Equal((SocketError.TooManyOpenSockets, FirstBackOff), await sink.NextFailureAsync());

        using var second = await TcpTest.ConnectedAsync(listener.Endpoint);
        clock.Advance(FirstBackOff);
        Assert.Equal((SocketError.TooManyOpenSockets, FirstBackOff * 2), await sink.NextFailureAsync());
        Assert.Equal(1, script.Calls);
        Assert.Equal(1, sink.AcceptedCount);

        headroom.IsTouched = false;
        clock.Advance(FirstBackOff * 2);
        await sink.NextAsync();

        using var third = await TcpTest.ConnectedAsync(listener.Endpoint);
        await sink.NextAsync();
        Assert.Equal(0, clock.ArmedTimers);
    }

    [Fact]
    public async Task A_dial_that_would_take_one_of_the_last_descriptors_fails_and_gives_it_back()
    {
        var headroom = new FakeHeadroom { IsTouched = true };
        using var listener = TcpTest.Listen("tcp://127.0.0.1:0");
        var opened = new List<Socket>();
        var result = await TcpTest.DialAsync(listener.Endpoint, onSocket: opened.Add, headroom: headroom);
        Assert.Null(result.Wire);
        Assert.Equal(SocketError.TooManyOpenSockets, result.Error);
        Assert.Contains("ulimit", result.Sentence, StringComparison.Ordinal);
        Assert.True(Assert.Single(opened).SafeHandle.IsClosed);

        headroom.IsTouched = false;
        result = await TcpTest.DialAsync(listener.Endpoint, headroom: headroom);
        Assert.NotNull(result.Wire);
        result.Wire.Dispose();
    }

    [Fact]
    public async Task An_ipc_dial_without_spare_descriptors_fails_and_names_ulimit()
    {
        using var folder = new IpcFolder();
        var headroom = new FakeHeadroom { IsTouched = true };
        folder.Listen(folder["a"]);
        var result = await IpcFolder.DialAsync(folder["a"], headroom: headroom);
        Assert.Null(result.Wire);
        Assert.Equal(SocketError.TooManyOpenSockets, result.Error);
        Assert.Contains("ulimit", result.Sentence, StringComparison.Ordinal);

        headroom.IsTouched = false;
        result = await IpcFolder.DialAsync(folder["a"], headroom: headroom);
        Assert.NotNull(result.Wire);
        result.Wire.Dispose();
    }

    [Fact]
    public void A_limit_that_was_raised_meanwhile_counts()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "sockets are not numbered from the lowest free number here");
        using var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        Assert.False(new DescriptorHeadroom(1).IsTouchedBy(socket));
    }

    private sealed class FakeHeadroom() : DescriptorHeadroom(long.MaxValue)
    {
        private volatile bool _isTouched;

        public bool IsTouched { get => _isTouched; set => _isTouched = value; }

        public override bool IsTouchedBy(Socket socket) => _isTouched;

        public override bool IsFree() => !_isTouched;
    }
}
