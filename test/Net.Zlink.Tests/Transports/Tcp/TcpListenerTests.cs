using System.Net;
using System.Net.Sockets;
using Net.Zlink.Transports;
using Net.Zlink.Transports.Tcp;
using Xunit;

namespace Net.Zlink.Tests.Transports.Tcp;

public sealed class TcpListenerTests : IDisposable
{
    private readonly RecordingSink _sink = new();

    [Theory]
    [InlineData("tcp://127.0.0.1:0", "tcp://127.0.0.1:")]
    [InlineData("tcp://127.0.0.1:*", "tcp://127.0.0.1:")]
    [InlineData("tcp://127.0.0.2:0", "tcp://127.0.0.2:")]
    [InlineData("tcp://localhost:0", "tcp://127.0.0.1:")]
    public void The_endpoint_of_a_listener_is_numeric_with_the_real_port(string text, string start)
    {
        using var listener = TcpTest.Listen(text);
        Assert.Equal($"{start}{listener.LocalEndPoint!.Port}", listener.Endpoint);
        Assert.InRange(listener.LocalEndPoint!.Port, 1, 65535);
        Assert.NotEqual(0, listener.Handle);
    }

    /// <summary>On Unix an address that no process listens at may be bound twice, and whoever listens first has it.</summary>
    [Theory]
    [InlineData(3, true)]
    [InlineData(1_000, false)]
    public void A_port_that_another_program_takes_after_the_system_chose_it_is_chosen_again(int rivals, bool isBound)
    {
        Assert.SkipWhen(OperatingSystem.IsWindows(), "there nobody else can bind it");
        var taken = new List<Socket>();
        BindResult result = TcpBinder.Bind(TcpTest.ToBind("tcp://127.0.0.1:0"), new TcpSettings(), upgrade: null, bound: chosen =>
        {
            if (taken.Count < rivals)
            {
                var rival = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
                taken.Add(rival);
                rival.Bind(chosen);
                rival.Listen();
            }
        });
        using ITransportListener? listener = result.Listener;
        taken.ForEach(static rival => rival.Dispose());
        Assert.Equal(isBound, listener is not null);
        Assert.Equal(isBound ? ZlinkError.None : ZlinkError.AddressInUse, result.Error.Code);
        Assert.Equal(isBound ? rivals : 10, taken.Count);
        Assert.True(isBound || result.Error.Sentence.Contains("others took each port that it offered", StringComparison.Ordinal),
            result.Error.Sentence);
    }

    [Fact]
    public async Task The_wildcard_listens_on_every_address()
    {
        using var listener = TcpTest.Listen("tcp://*:*");
        Assert.Equal($"tcp://0.0.0.0:{listener.LocalEndPoint!.Port}", listener.Endpoint);
        listener.Start(_sink, TimeProvider.System);

        foreach (var host in new[] { "127.0.0.1", "127.0.0.2" })
        {
            using var client = await TcpTest.ConnectedAsync($"tcp://{host}:{listener.LocalEndPoint!.Port}");
            var accepted = await _sink.NextAsync();
            Assert.Equal(IPAddress.Parse(host), ((IPEndPoint)accepted.LocalEndPoint!).Address);
        }
    }

    [Fact]
    public async Task A_dual_stack_wildcard_accepts_both_families()
    {
        Assert.SkipUnless(TcpTest.HasIPv6, "no IPv6 on this machine");
        var settings = new TcpSettings { IPv6 = true };
        using var listener = TcpTest.Listen("tcp://*:0", settings);
        Assert.Equal($"tcp://[::]:{listener.LocalEndPoint!.Port}", listener.Endpoint);
        listener.Start(_sink, TimeProvider.System);

        using var four = await TcpTest.ConnectedAsync($"tcp://127.0.0.1:{listener.LocalEndPoint!.Port}");
        var accepted = await _sink.NextAsync();
        Assert.StartsWith("tcp://[::ffff:127.0.0.1]:", TcpEndpoint.Format(accepted.RemoteEndPoint, "tcp", ""),
            StringComparison.Ordinal);

        using var six = await TcpTest.ConnectedAsync($"tcp://[::1]:{listener.LocalEndPoint!.Port}", settings);
        accepted = await _sink.NextAsync();
        Assert.StartsWith("tcp://[::1]:", TcpEndpoint.Format(accepted.RemoteEndPoint, "tcp", ""), StringComparison.Ordinal);
    }

    [Fact]
    public async Task An_IPv4_literal_on_a_dual_stack_socket_is_a_mapped_address_that_can_be_dialled_as_it_reads()
    {
        Assert.SkipUnless(TcpTest.HasIPv6, "no IPv6 on this machine");
        using var listener = TcpTest.Listen("tcp://127.0.0.1:0", new TcpSettings { IPv6 = true });
        Assert.Equal($"tcp://[::ffff:127.0.0.1]:{listener.LocalEndPoint!.Port}", listener.Endpoint);
        listener.Start(_sink, TimeProvider.System);

        foreach (var text in new[] { listener.Endpoint, $"tcp://127.0.0.1:{listener.LocalEndPoint!.Port}" })
        {
            using var client = await TcpTest.ConnectedAsync(text, new TcpSettings { IPv6 = true });
            await _sink.NextAsync();
            Assert.Equal(new IPEndPoint(IPAddress.Loopback, listener.LocalEndPoint!.Port), client.RemoteEndPoint);
        }
    }

    [Theory]
    [InlineData("tcp://[::1]:0")]
    [InlineData("tcp://::1:0")]
    public void An_IPv6_literal_needs_the_IPv6_option(string text)
    {
        var error = TcpTest.RefusedBind(text);
        Assert.Equal(ZlinkError.NoDevice, error.Code);
        Assert.Contains("set the IPv6 option", error.Sentence, StringComparison.Ordinal);

        Assert.SkipUnless(TcpTest.HasIPv6, "no IPv6 on this machine");
        using var listener = TcpTest.Listen(text, new TcpSettings { IPv6 = true });
        Assert.Equal($"tcp://[::1]:{listener.LocalEndPoint!.Port}", listener.Endpoint);
    }

    [Fact]
    public async Task An_interface_is_listened_at_by_its_name()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "the loopback interface has another name here");
        using var listener = TcpTest.Listen("tcp://lo:0");
        Assert.Equal($"tcp://127.0.0.1:{listener.LocalEndPoint!.Port}", listener.Endpoint);
        listener.Start(_sink, TimeProvider.System);
        using var client = await TcpTest.ConnectedAsync(listener.Endpoint);
        await _sink.NextAsync();
    }

    [Fact]
    public void A_port_in_use_is_told_with_a_way_out()
    {
        using var first = TcpTest.Listen("tcp://127.0.0.1:0");

        var error = TcpTest.RefusedBind(first.Endpoint);

        Assert.Equal((ZlinkError.AddressInUse, SocketError.AddressAlreadyInUse), (error.Code, error.OsError));
        Assert.Equal(
            $"port {first.LocalEndPoint!.Port} is in use, by another program or an earlier Bind of this one; stop or unbind that, or "
                + $"choose another port (0 for any free one)",
            error.Sentence);
    }

    [Theory]
    [InlineData(true, false)]
    [InlineData(false, true)]
    public void An_address_is_shared_only_when_all_ask_for_it(bool first, bool second)
    {
        using var listener = TcpTest.Listen("tcp://127.0.0.1:0", new TcpSettings { ShareAddress = first });
        Assert.Equal(ZlinkError.AddressInUse, TcpTest.RefusedBind(listener.Endpoint, new TcpSettings { ShareAddress = second }).Code);
        Assert.Equal(ZlinkError.AddressInUse, TcpTest.RefusedBind($"tcp://*:{listener.LocalEndPoint!.Port}").Code);
    }

    [Fact]
    public async Task Listeners_that_share_an_address_share_its_connections()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "the kernel spreads connections on Linux only");
        const int Count = 200; // all of them at one listener has a chance of 2 in 2^200
        using var other = new RecordingSink();
        var settings = new TcpSettings { ShareAddress = true };
        using var first = TcpTest.Listen("tcp://127.0.0.1:0", settings);
        using var second = TcpTest.Listen(first.Endpoint, settings);
        first.Start(_sink, TimeProvider.System);
        second.Start(other, TimeProvider.System);

        var clients = await Task.WhenAll(Enumerable.Range(0, Count).Select(_ => TcpTest.ConnectedAsync(first.Endpoint)));

        await _sink.NextAsync();
        await other.NextAsync();
        Array.ForEach(clients, static client => client.Dispose());
    }

    [Fact]
    public void An_address_is_free_as_soon_as_its_listener_is_closed()
    {
        var listener = TcpTest.Listen("tcp://127.0.0.1:0");
        for (var i = 0; i < 20; i++)
        {
            listener.Start(_sink, TimeProvider.System);
            listener.Dispose();
            listener = TcpTest.Listen(listener.Endpoint);
        }

        listener.Dispose();
    }

    [Fact]
    public async Task A_port_can_be_listened_at_again_while_old_connections_linger()
    {
        using var listener = TcpTest.Listen("tcp://127.0.0.1:0");
        listener.Start(_sink, TimeProvider.System);
        using var client = await TcpTest.ConnectedAsync(listener.Endpoint);
        using var accepted = await _sink.NextAsync();
        listener.Dispose();
        using var again = TcpTest.Listen(listener.Endpoint); // with the connection still open
        again.Dispose();

        accepted.Dispose(); // the server's side closes first: its address stays in TIME_WAIT
        Assert.True(await TcpTest.EndsInOrderAsync(client));
        client.Dispose();
        using var third = TcpTest.Listen(listener.Endpoint);
        Assert.Equal(listener.Endpoint, third.Endpoint);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(32768)]
    [InlineData(65536)]
    public async Task Any_backlog_is_taken(int backlog)
    {
        using var listener = TcpTest.Listen("tcp://127.0.0.1:0", new TcpSettings { Backlog = backlog });
        listener.Start(_sink, TimeProvider.System);
        using var client = await TcpTest.ConnectedAsync(listener.Endpoint);
        await _sink.NextAsync();
    }

    [Fact]
    public void An_address_of_another_machine_cannot_be_listened_at()
    {
        // From the block reserved for examples in other people's texts; binding sends nothing to it.
        var error = TcpTest.RefusedBind("tcp://203.0.113.77:0");
        Assert.Equal((ZlinkError.AddressInUse, SocketError.AddressNotAvailable), (error.Code, error.OsError));
    }

    [Theory]
    [InlineData(SocketError.AccessDenied, "choose a port above 1023")]
    [InlineData(SocketError.TooManyOpenSockets, "ulimit")]
    [InlineData(SocketError.AddressFamilyNotSupported, "IPv4")]
    [InlineData(SocketError.InvalidArgument, "check")]
    [InlineData(SocketError.NoBufferSpaceAvailable, "try another")]
    public void Every_refusal_of_the_system_keeps_its_code_and_has_a_sentence(SocketError os, string advice)
    {
        var error = TcpFaults.Bind(new SocketException((int)os), new IPEndPoint(IPAddress.Loopback, 80), new TcpSettings());
        bool outOfDescriptors = os == SocketError.TooManyOpenSockets;
        Assert.Equal((outOfDescriptors ? ZlinkError.TooManySockets : ZlinkError.AddressInUse, os), (error.Code, error.OsError));
        Assert.Equal(outOfDescriptors ? ZlinkError.TooManySockets : ZlinkError.AddressInUse,
            ZlinkException.ForEndpoint("tcp://127.0.0.1:80", error).Error);
        Assert.True(TcpTest.IsOneLine(error.Sentence), error.Sentence);
        Assert.Contains(advice, error.Sentence, StringComparison.Ordinal);
    }

    [Fact]
    public void A_socket_option_that_the_system_refuses_fails_the_bind()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "the limits of other systems are their own");
        var settings = new TcpSettings { KeepAlive = 1, KeepAliveCount = 100_000 }; // Linux takes 127 at most
        var error = TcpTest.RefusedBind("tcp://127.0.0.1:0", settings);
        Assert.Equal((ZlinkError.AddressInUse, SocketError.InvalidArgument), (error.Code, error.OsError));
        Assert.Contains("keep-alive", error.Sentence, StringComparison.Ordinal);
    }

    [Fact]
    public void A_name_that_nobody_knows_is_told_with_a_way_out()
    {
        var error = TcpTest.RefusedBind("tcp://nowhere:5555", names: new FakeNames());
        Assert.Equal((ZlinkError.NoDevice, SocketError.HostNotFound), (error.Code, error.OsError));
        Assert.Equal("there is no host or network interface \"nowhere\"; check the spelling, or use an address", error.Sentence);
    }

    public void Dispose() => _sink.Dispose();
}
