using System.Net;
using System.Net.Sockets;
using Net.Zlink.Transports;
using Net.Zlink.Transports.Tcp;
using Xunit;

namespace Net.Zlink.Tests.Transports.Tcp;

public sealed class TcpSocketOptionsTests : IDisposable
{
    private readonly RecordingSink _sink = new();

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Both_ends_of_a_connection_have_the_options_and_never_block(bool ipv6)
    {
        Assert.SkipUnless(!ipv6 || TcpTest.HasIPv6, "no IPv6 on this machine");
        var settings = new TcpSettings
        {
            IPv6 = ipv6,
            SendBufferSize = 60_000,
            ReceiveBufferSize = 70_000,
            KeepAlive = 1,
            KeepAliveCount = 7,
            KeepAliveIdleSeconds = 77,
            KeepAliveIntervalSeconds = 17,
            TypeOfService = 0x28,
        };
        foreach (var socket in await PairAsync(settings))
        {
            Assert.False(socket.Blocking);
            Assert.True(socket.NoDelay);
            Assert.Equal(1, Get(socket, SocketOptionLevel.Socket, SocketOptionName.KeepAlive));
            Assert.Equal(7, Get(socket, SocketOptionLevel.Tcp, SocketOptionName.TcpKeepAliveRetryCount));
            Assert.Equal(77, Get(socket, SocketOptionLevel.Tcp, SocketOptionName.TcpKeepAliveTime));
            Assert.Equal(17, Get(socket, SocketOptionLevel.Tcp, SocketOptionName.TcpKeepAliveInterval));
            if (OperatingSystem.IsLinux())
            {
                // Linux doubles what is asked for, to have room for its own records.
                Assert.Equal((120_000, 140_000), (socket.SendBufferSize, socket.ReceiveBufferSize));
                Assert.Equal(0x28, Get(socket, SocketOptionLevel.IP, SocketOptionName.TypeOfService));
            }
        }
    }

    [Fact]
    public async Task A_TCP_option_left_at_minus_one_keeps_the_systems_default()
    {
        using var plain = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        foreach (var socket in await PairAsync(new TcpSettings()))
        {
            Assert.False(socket.Blocking);
            Assert.True(socket.NoDelay);
            foreach (var name in new[] { SocketOptionName.TcpKeepAliveRetryCount, SocketOptionName.TcpKeepAliveTime })
            {
                Assert.Equal(Get(plain, SocketOptionLevel.Tcp, name), Get(socket, SocketOptionLevel.Tcp, name));
            }

            Assert.Equal(0, Get(socket, SocketOptionLevel.Socket, SocketOptionName.KeepAlive));
            Assert.Equal(0, Get(socket, SocketOptionLevel.IP, SocketOptionName.TypeOfService));
        }
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Both_ends_give_up_what_stays_unacknowledged_and_keep_to_one_interface(bool ipv6)
    {
        Assert.SkipUnless(!ipv6 || TcpTest.HasIPv6, "no IPv6 on this machine");
        Assert.SkipUnless(OperatingSystem.IsLinux(), "the numbers of the options are Linux's");
        const int tcp = 6, userTimeout = 18, level = 1, bindToDevice = 25;
        foreach (var socket in await PairAsync(new TcpSettings
        {
            IPv6 = ipv6,
            MaxUnacknowledged = TimeSpan.FromMilliseconds(8_999.5),
            Device = "lo"
        }))
        {
            var value = new byte[sizeof(int)];
            Assert.Equal(sizeof(int), socket.GetRawSocketOption(tcp, userTimeout, value));
            Assert.Equal(9_000, BitConverter.ToInt32(value));
            var device = new byte[16];
            Assert.Equal(3, socket.GetRawSocketOption(level, bindToDevice, device));
            Assert.Equal("lo\0"u8.ToArray(), device[..3]);
        }
    }

    [Fact]
    public void An_interface_that_does_not_exist_is_a_refused_bind_that_names_it()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "elsewhere no interface can be named");
        var error = TcpTest.RefusedBind("tcp://127.0.0.1:0", new TcpSettings { Device = "no-such-one" });
        Assert.Equal(ZlinkError.NoDevice, error.Code);
        Assert.Contains("no device \"no-such-one\"", error.Sentence, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(0, 0)]
    [InlineData(1, 1)]
    public async Task Keep_alive_is_switched_without_touching_times_that_are_zero(int keepAlive, int expected)
    {
        var settings = new TcpSettings
        {
            KeepAlive = keepAlive,
            KeepAliveCount = 0,
            KeepAliveIdleSeconds = 0,
            KeepAliveIntervalSeconds = 0,
        };
        foreach (var socket in await PairAsync(settings))
        {
            Assert.Equal(expected, Get(socket, SocketOptionLevel.Socket, SocketOptionName.KeepAlive));
        }
    }

    [Fact]
    public async Task Connections_inherit_their_listeners_options_on_Linux()
    {
        // If a kernel or a runtime ever stops doing this, AreInheritedByAccept has to become false.
        Assert.SkipUnless(OperatingSystem.IsLinux(), "options are set on each connection here");
        Assert.True(TcpSocketOptions.AreInheritedByAccept);
        using var listener = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        var settings = new TcpSettings { SendBufferSize = 50_000, KeepAlive = 1, KeepAliveIdleSeconds = 99, TypeOfService = 0x10 };
        TcpSocketOptions.ApplyTo(listener, settings);
        listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        listener.Listen();
        using var client = await TcpTest.ConnectedAsync(TcpEndpoint.Format(listener.LocalEndPoint, "tcp", ""));
        using var accepted = await listener.AcceptAsync(TestContext.Current.CancellationToken);

        Assert.True(accepted.NoDelay);
        Assert.Equal(100_000, accepted.SendBufferSize);
        Assert.Equal(1, Get(accepted, SocketOptionLevel.Socket, SocketOptionName.KeepAlive));
        Assert.Equal(99, Get(accepted, SocketOptionLevel.Tcp, SocketOptionName.TcpKeepAliveTime));
        Assert.Equal(0x10, Get(accepted, SocketOptionLevel.IP, SocketOptionName.TypeOfService));
    }

    public void Dispose() => _sink.Dispose();

    private static int Get(Socket socket, SocketOptionLevel level, SocketOptionName name) => (int)socket.GetSocketOption(level, name)!;

    private async Task<Socket[]> PairAsync(TcpSettings settings)
    {
        using var listener = TcpTest.Listen(settings.IPv6 ? "tcp://[::1]:0" : "tcp://127.0.0.1:0", settings);
        listener.Start(_sink, TimeProvider.System);
        var client = await TcpTest.ConnectedAsync(listener.Endpoint, settings);
        var accepted = await _sink.NextAsync();
        _sink.Adopt(client);
        return [client, accepted];
    }
}
