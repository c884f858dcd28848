using System.Net;
using System.Net.Sockets;
using Net.Zlink.Tests.Support;
using Net.Zlink.Transports;
using Net.Zlink.Transports.Tcp;
using Xunit;

namespace Net.Zlink.Tests.Transports.Tcp;

public sealed class TcpDialerTests : IDisposable
{
    private readonly RecordingSink _sink = new();
    private readonly List<Socket> _opened = [];

    [Theory]
    [InlineData("127.0.0.1")]
    [InlineData("localhost")]
    public async Task A_listener_is_reached_by_address_and_by_name(string host)
    {
        using var listener = TcpTest.Listen("tcp://127.0.0.1:0");
        listener.Start(_sink, TimeProvider.System);

        using var client = await TcpTest.ConnectedAsync($"tcp://{host}:{listener.LocalEndPoint!.Port}");

        Assert.Equal(listener.LocalEndPoint, client.RemoteEndPoint);
        Assert.Equal(client.LocalEndPoint, (await _sink.NextAsync()).RemoteEndPoint);
    }

    [Fact]
    public async Task IPv6_is_dialled_only_when_it_is_on()
    {
        Assert.SkipUnless(TcpTest.HasIPv6, "no IPv6 on this machine");
        using var listener = TcpTest.Listen("tcp://[::1]:0", new TcpSettings { IPv6 = true });
        var refused = await TcpTest.DialAsync(listener.Endpoint, onSocket: _opened.Add);
        Assert.Equal(SocketError.HostNotFound, refused.Error);
        Assert.Contains("IPv6 option", refused.Sentence, StringComparison.Ordinal);
        Assert.Empty(_opened);

        using var client = await TcpTest.ConnectedAsync(listener.Endpoint, new TcpSettings { IPv6 = true });
        Assert.Equal(listener.LocalEndPoint, client.RemoteEndPoint);
    }

    [Fact]
    public async Task A_connect_without_a_listener_fails_with_advice_and_leaves_no_socket_open()
    {
        using var dead = TcpTest.DeadPort(out var port);

        var result = await TcpTest.DialAsync($"tcp://127.0.0.1:{port}", onSocket: _opened.Add);

        Assert.Equal(SocketError.ConnectionRefused, result.Error);
        Assert.Equal($"no process listens at 127.0.0.1:{port}; start the server, or check the port", result.Sentence);
        AssertClosed(1);
    }

    [Fact]
    public async Task Every_address_of_a_name_is_tried_in_order_until_one_answers()
    {
        using var listener = TcpTest.Listen("tcp://127.0.0.3:0");
        var names = new FakeNames().Host("several", "127.0.0.2", "127.0.0.3", "127.0.0.4");
        var begun = 0;

        var result = await TcpTest.DialAsync($"tcp://several:{listener.LocalEndPoint!.Port}", names: names, onSocket: _opened.Add,
            connecting: () => begun++);

        using var client = result.Socket();
        Assert.True(client is not null, result.Sentence);
        Assert.Equal(listener.LocalEndPoint, client.RemoteEndPoint);
        Assert.Equal((2, 1), (_opened.Count, begun));
        Assert.True(_opened[0].SafeHandle.IsClosed);
    }

    [Fact]
    public async Task When_no_address_answers_the_last_error_is_told_and_no_socket_stays_open()
    {
        using var dead = TcpTest.DeadPort(out var port);
        var names = new FakeNames().Host("several", "127.0.0.1", "127.0.0.1", "127.0.0.1");

        var result = await TcpTest.DialAsync($"tcp://several:{port}", names: names, onSocket: _opened.Add);

        Assert.Equal(SocketError.ConnectionRefused, result.Error);
        const string Sentence = "none of the 3 addresses of \"several\" accepted the connection; the last: no process listens";
        Assert.StartsWith(Sentence, result.Sentence, StringComparison.Ordinal);
        AssertClosed(3);
    }

    [Fact]
    public async Task A_name_is_looked_up_anew_at_every_dial()
    {
        using var listener = TcpTest.Listen("tcp://127.0.0.1:0");
        var names = new FakeNames();
        var text = $"tcp://moving:{listener.LocalEndPoint!.Port}";
        var lost = await TcpTest.DialAsync(text, names: names, connecting: static () => Assert.Fail("There is nothing to connect to."));
        Assert.Equal(SocketError.HostNotFound, lost.Error);
        Assert.Contains("check the spelling", lost.Sentence, StringComparison.Ordinal);

        names.Host("moving", "127.0.0.1");
        using var client = await TcpTest.ConnectedAsync(text, names: names);
        Assert.Equal(2, names.Lookups);
    }

    [Theory]
    [InlineData("127.0.0.5:0")]
    [InlineData("127.0.0.5:*")]
    public async Task A_dial_comes_from_its_source_address(string source)
    {
        using var listener = TcpTest.Listen("tcp://127.0.0.1:0");
        using var client = await TcpTest.ConnectedAsync($"tcp://{source};127.0.0.1:{listener.LocalEndPoint!.Port}");
        Assert.Equal(IPAddress.Parse("127.0.0.5"), ((IPEndPoint)client.LocalEndPoint!).Address);
    }

    [Fact]
    public async Task A_dial_comes_from_its_source_port()
    {
        using var listener = TcpTest.Listen("tcp://127.0.0.1:0");
        int port;
        using (TcpTest.DeadPort(out port))
        {
        }

        var result = await TcpTest.DialAsync($"tcp://127.0.0.6:{port};127.0.0.1:{listener.LocalEndPoint!.Port}");
        using var client = result.Socket();
        Assert.True(client is not null, result.Sentence);
        Assert.Equal(new IPEndPoint(IPAddress.Parse("127.0.0.6"), port), client.LocalEndPoint);
    }

    [Fact]
    public async Task A_dial_comes_from_the_address_of_its_source_interface()
    {
        using var listener = TcpTest.Listen("tcp://127.0.0.1:0");
        var names = new FakeNames().Interface("side", "127.0.0.7");
        using var client = await TcpTest.ConnectedAsync($"tcp://side:0;127.0.0.1:{listener.LocalEndPoint!.Port}", names: names);
        Assert.Equal(IPAddress.Parse("127.0.0.7"), ((IPEndPoint)client.LocalEndPoint!).Address);

        Assert.SkipUnless(OperatingSystem.IsLinux(), "the loopback interface has another name here");
        using var other = await TcpTest.ConnectedAsync($"tcp://lo:0;127.0.0.1:{listener.LocalEndPoint!.Port}");
        Assert.Equal(IPAddress.Loopback, ((IPEndPoint)other.LocalEndPoint!).Address);
    }

    [Theory]
    [InlineData("203.0.113.77:0", "not an address of this machine")] // from the block reserved for examples; binding sends nothing
    [InlineData("[::1]:0", "differ in family")]
    [InlineData("nowhere:0", "neither an address nor a network interface")]
    public async Task A_wrong_source_fails_the_dial_with_a_way_out_and_leaves_no_socket_open(string source, string advice)
    {
        using var listener = TcpTest.Listen("tcp://127.0.0.1:0");

        var result = await TcpTest.DialAsync(
            $"tcp://{source};127.0.0.1:{listener.LocalEndPoint!.Port}", names: new FakeNames(), onSocket: _opened.Add);

        Assert.Equal(SocketError.AddressNotAvailable, result.Error);
        Assert.Contains(advice, result.Sentence, StringComparison.Ordinal);
        AssertClosed(1);
    }

    [Fact]
    public async Task A_source_port_in_use_is_told_with_a_way_out()
    {
        using var holder = TcpTest.Listen("tcp://127.0.0.1:0");
        using var listener = TcpTest.Listen("tcp://127.0.0.1:0");

        var result = await TcpTest.DialAsync(
            $"tcp://127.0.0.1:{holder.LocalEndPoint!.Port};127.0.0.1:{listener.LocalEndPoint!.Port}", onSocket: _opened.Add);

        Assert.Equal(SocketError.AddressAlreadyInUse, result.Error);
        Assert.Contains("source port 0", result.Sentence, StringComparison.Ordinal);
        AssertClosed(1);
    }

    [Theory]
    [InlineData("127.0.0.10", "127.0.0.10")]
    [InlineData("127.0.0.10", "0.0.0.0")]
    [InlineData("[::1]", "[::1]")]
    [InlineData("[::1]", "[::]")]
    public async Task A_socket_that_the_kernel_would_connect_to_itself_counts_as_nobody_listening(string source, string destination)
    {
        bool isIPv6 = source[0] == '[';
        Assert.SkipWhen(isIPv6 && !Socket.OSSupportsIPv6, "NOT TESTED HERE: there is no IPv6");
        Assert.SkipWhen(destination is "0.0.0.0" or "[::]" && !OperatingSystem.IsLinux(),
            "NOT TESTED HERE: elsewhere it is no destination");
        int port;
        using (TcpTest.DeadPort(out port))
        {
        }

        var result = await TcpTest.DialAsync($"tcp://{source}:{port};{destination}:{port}", new TcpSettings { IPv6 = isIPv6 },
            onSocket: _opened.Add);

        Assert.Equal(SocketError.ConnectionRefused, result.Error);
        AssertClosed(1);
    }

    [Fact]
    public async Task Port_0_passes_the_parser_and_fails_when_dialled()
    {
        var result = await TcpTest.DialAsync("tcp://127.0.0.1:0", onSocket: _opened.Add);
        Assert.NotEqual(SocketError.Success, result.Error);
        Assert.True(TcpTest.IsOneLine(result.Sentence), result.Sentence);
        AssertClosed(1);
    }

    [Fact]
    public async Task A_dial_whose_token_is_cancelled_already_opens_nothing()
    {
        var cancelled = new CancellationToken(canceled: true);
        var result = await TcpTest.DialAsync("tcp://127.0.0.1:1", onSocket: _opened.Add, cancellation: cancelled);
        Assert.Equal((null, SocketError.OperationAborted), (result.Wire, result.Error));
        Assert.Contains("cancelled", result.Sentence, StringComparison.Ordinal);
        Assert.Empty(_opened);
    }

    [Fact]
    public async Task A_dial_is_cancelled_while_it_waits_for_an_answer()
    {
        using var silent = await SilentListener.OpenAsync();
        using var cancellation = new CancellationTokenSource();
        var clock = new ManualTimeProvider();
        var settings = new TcpSettings { ConnectTimeout = TimeSpan.FromSeconds(5) };
        var dial = TcpTest.DialAsync(silent.Endpoint, settings, clock, onSocket: _opened.Add, cancellation: cancellation.Token);
        Assert.False(dial.IsCompleted);

        await cancellation.CancelAsync();

        var result = await dial;
        Assert.Equal((null, SocketError.OperationAborted), (result.Wire, result.Error));
        AssertClosed(1);
        Assert.Equal(0, clock.ArmedTimers);
    }

    [Fact]
    public async Task A_dial_is_cancelled_while_its_name_is_looked_up()
    {
        using var cancellation = new CancellationTokenSource();
        var names = new FakeNames { Silent = "slow" };
        var dial = TcpTest.DialAsync("tcp://slow:1", names: names, onSocket: _opened.Add, cancellation: cancellation.Token);
        Assert.Equal(1, names.Lookups);
        Assert.False(dial.IsCompleted);

        await cancellation.CancelAsync();

        Assert.Equal(SocketError.OperationAborted, (await dial).Error);
        Assert.Empty(_opened);
    }

    [Fact]
    public async Task A_dial_gives_up_when_the_connect_timeout_is_over_and_not_before()
    {
        using var silent = await SilentListener.OpenAsync();
        var clock = new ManualTimeProvider();
        var settings = new TcpSettings { ConnectTimeout = TimeSpan.FromSeconds(5) };
        var dial = TcpTest.DialAsync(silent.Endpoint, settings, clock, onSocket: _opened.Add);

        clock.Advance(TimeSpan.FromMilliseconds(4_999));
        Assert.False(_opened[0].SafeHandle.IsClosed);
        Assert.False(dial.IsCompleted);
        clock.Advance(TimeSpan.FromMilliseconds(1));

        var result = await dial;
        Assert.Equal((null, SocketError.TimedOut), (result.Wire, result.Error));
        Assert.Contains("within the 5000 ms given", result.Sentence, StringComparison.Ordinal);
        AssertClosed(1);
        Assert.Equal(0, clock.ArmedTimers);
    }

    [Fact]
    public async Task The_connect_timeout_covers_the_lookup_of_the_name()
    {
        var clock = new ManualTimeProvider();
        var settings = new TcpSettings { ConnectTimeout = TimeSpan.FromSeconds(5) };
        var dial = TcpTest.DialAsync("tcp://slow:1", settings, clock, new FakeNames { Silent = "slow" });

        clock.Advance(TimeSpan.FromSeconds(5));

        var result = await dial;
        Assert.Equal(SocketError.TimedOut, result.Error);
        Assert.Contains("\"slow\" was not looked up", result.Sentence, StringComparison.Ordinal);
        Assert.Equal(0, clock.ArmedTimers);
    }

    [Theory]
    [InlineData(0, 250)]
    [InlineData(5_000, 250)]
    [InlineData(100, 50)]
    public async Task The_next_address_is_tried_after_250_ms_or_its_share_of_a_shorter_time(int timeout, int pause)
    {
        // One port at two addresses: at the first nobody takes connections, at the second somebody does.
        using var silent = await SilentListener.OpenAsync("127.0.0.8");
        using var listener = TcpTest.Listen($"tcp://127.0.0.9:{silent.Port}");
        var names = new FakeNames().Host("several", "127.0.0.8", "127.0.0.9");
        var clock = new ManualTimeProvider();
        var settings = new TcpSettings { ConnectTimeout = TimeSpan.FromMilliseconds(timeout) };
        var dial = TcpTest.DialAsync($"tcp://several:{silent.Port}", settings, clock, names, _opened.Add);
        clock.Advance(TimeSpan.FromMilliseconds(pause - 1));
        Assert.False(dial.IsCompleted);
        Assert.Single(_opened);

        clock.Advance(TimeSpan.FromMilliseconds(1));

        var result = await dial;
        using var client = result.Socket();
        Assert.True(client is not null, result.Sentence);
        Assert.Equal(listener.LocalEndPoint, client.RemoteEndPoint);
        Assert.True(_opened[0].SafeHandle.IsClosed);
        Assert.Equal(0, clock.ArmedTimers);
    }

    [Fact]
    public async Task A_connect_timeout_beyond_what_a_timer_takes_is_none()
    {
        using var listener = TcpTest.Listen("tcp://127.0.0.1:0");
        var clock = new ManualTimeProvider();
        var result = await TcpTest.DialAsync(listener.Endpoint, new TcpSettings { ConnectTimeout = TimeSpan.MaxValue }, clock);
        using var client = result.Socket();
        Assert.True(client is not null, result.Sentence);
        Assert.Equal(0, clock.ArmedTimers);
    }

    [Fact]
    public async Task A_socket_option_that_the_system_refuses_fails_the_dial_and_leaves_no_socket_open()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "the limits of other systems are their own");
        using var listener = TcpTest.Listen("tcp://127.0.0.1:0");
        var settings = new TcpSettings { KeepAlive = 1, KeepAliveIdleSeconds = 100_000 }; // Linux takes 32,767 at most
        var result = await TcpTest.DialAsync(listener.Endpoint, settings, onSocket: _opened.Add);
        Assert.Equal(SocketError.InvalidArgument, result.Error);
        Assert.Contains("keep-alive", result.Sentence, StringComparison.Ordinal);
        AssertClosed(1);
    }

    [Theory]
    [InlineData(SocketError.TimedOut, ZlinkError.TimedOut)]
    [InlineData(SocketError.HostUnreachable, ZlinkError.HostUnreachable)]
    [InlineData(SocketError.NetworkUnreachable, ZlinkError.NetworkUnreachable)]
    [InlineData(SocketError.TooManyOpenSockets, ZlinkError.TooManySockets)]
    [InlineData(SocketError.AddressNotAvailable, ZlinkError.ConnectionRefused)]
    [InlineData(SocketError.AddressFamilyNotSupported, ZlinkError.ConnectionRefused)]
    [InlineData(SocketError.InvalidArgument, ZlinkError.ConnectionRefused)]
    [InlineData(SocketError.ConnectionReset, ZlinkError.ConnectionReset)]
    public void Every_failure_keeps_its_code_and_has_a_sentence_that_says_what_to_do(SocketError error, ZlinkError told)
    {
        var result = TcpFaults.Refused(error, new IPEndPoint(IPAddress.Loopback, 5555));
        Assert.Equal((null, error), (result.Wire, result.Error));
        Assert.True(TcpTest.IsOneLine(result.Sentence), result.Sentence);
        Assert.Contains("; ", result.Sentence, StringComparison.Ordinal);
        Assert.Equal(told, ZlinkException.ForDial("tcp://127.0.0.1:5555", result).Error);
    }

    public void Dispose()
    {
        _sink.Dispose();
        _opened.ForEach(static socket => socket.Dispose());
    }

    private void AssertClosed(int count)
    {
        Assert.Equal(count, _opened.Count);
        Assert.All(_opened, static socket => Assert.True(socket.SafeHandle.IsClosed));
    }
}
