using System.Net.Sockets;
using Net.Zlink.Tests.Support;
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
    [InlineData(64, 60)]
    [InlineData(256, 240)]
    [InlineData(512, 480)]
    [InlineData(1024, 992)]
    [InlineData(1_000_000, 999_968)]
    public void The_last_descriptors_are_left_alone_but_never_more_than_a_sixteenth(long limit, long start) =>
        Assert.Equal(start, new DescriptorHeadroom(limit).Start);

    [Fact]
    public void A_sockets_number_tells_whether_the_headroom_is_reached()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "sockets are not numbered from the lowest free number here");
        using var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        Assert.True(new DescriptorHeadroom(1).IsTouchedBy(socket));
        Assert.False(new DescriptorHeadroom(1_000_000).IsTouchedBy(socket));
        Assert.True(DescriptorHeadroom.OfThisProcess()!.IsFree());
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

    private sealed class FakeHeadroom() : DescriptorHeadroom(long.MaxValue)
    {
        private volatile bool _isTouched;

        public bool IsTouched { get => _isTouched; set => _isTouched = value; }

        public override bool IsTouchedBy(Socket accepted) => _isTouched;

        public override bool IsFree() => !_isTouched;
    }
}
