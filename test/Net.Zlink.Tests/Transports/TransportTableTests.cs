using System.Net;
using System.Net.Sockets;
using Net.Zlink.Sockets.Endpoints;
using Net.Zlink.Transports;
using Xunit;

namespace Net.Zlink.Tests.Transports;

public sealed class TransportTableTests
{
    [Theory]
    [InlineData("tcp://127.0.0.1:5555", nameof(ZlinkError.None), nameof(ZlinkError.None))]
    [InlineData("tcp://*:5555", nameof(ZlinkError.None), nameof(ZlinkError.InvalidArgument))]
    [InlineData("ipc:///tmp/a", nameof(ZlinkError.None), nameof(ZlinkError.None))]
    [InlineData("ipc://*", nameof(ZlinkError.None), nameof(ZlinkError.InvalidArgument))]
    [InlineData("ipc://@", nameof(ZlinkError.InvalidArgument), nameof(ZlinkError.InvalidArgument))]
    [InlineData("ipc://", nameof(ZlinkError.InvalidArgument), nameof(ZlinkError.InvalidArgument))]
    [InlineData("IPC://a", nameof(ZlinkError.ProtocolNotSupported), nameof(ZlinkError.ProtocolNotSupported))]
    [InlineData("udp://a", nameof(ZlinkError.ProtocolNotSupported), nameof(ZlinkError.ProtocolNotSupported))]
    [InlineData("inproc://a", nameof(ZlinkError.ProtocolNotSupported), nameof(ZlinkError.ProtocolNotSupported))]
    public void Each_scheme_finds_its_transport(string text, string bind, string connect)
    {
        Assert.Equal(bind is nameof(ZlinkError.None),
            TransportTable.TryParseWire(text, EndpointUse.Bind, out var toBind, out var bindError));
        Assert.Equal(connect is nameof(ZlinkError.None),
            TransportTable.TryParseWire(text, EndpointUse.Connect, out var toConnect, out var connectError));
        Assert.Equal((bind, connect), (bindError.Code.ToString(), connectError.Code.ToString()));
        Assert.Equal(toBind?.Text ?? text, text);
        Assert.Equal(toConnect?.Text ?? text, text);
        Assert.Equal(toBind is null, TcpTest.IsOneLine(bindError.Sentence));
        Assert.Equal(toConnect is null, TcpTest.IsOneLine(connectError.Sentence));
    }

    [Fact]
    public void The_text_of_inproc_is_known_though_no_transport_carries_it()
    {
        Assert.True(TransportTable.TryParse("inproc://a://b", EndpointUse.Bind, out var parts, out _));
        Assert.Equal((EndpointText.Inproc, "a://b"), (parts.Scheme, parts.Path));
        Assert.False(TransportTable.TryParseWire("inproc://a", EndpointUse.Bind, out _, out var error));
        Assert.Equal("this kind of socket does not take inproc endpoints; use tcp://host:port, ipc://path, tls://host:port, "
            + "ws://host:port/path or wss://host:port/path", error.Sentence);
        Assert.False(TransportTable.TryParse("IPC://a", EndpointUse.Bind, out _, out error));
        Assert.Equal("the scheme \"IPC\" must be in lower case; write ipc://path", error.Sentence);
    }

    [Fact]
    public async Task A_target_binds_and_dials_without_its_user_knowing_the_transport()
    {
        using var sink = new RecordingSink();
        foreach (var text in Socket.OSSupportsUnixDomainSockets ? new[] { "tcp://127.0.0.1:0", "ipc://*" } : ["tcp://127.0.0.1:0"])
        {
            Assert.True(TransportTable.TryParseWire(text, EndpointUse.Bind, out var toBind, out _));
            var (listener, error) = toBind.Listen(new TransportSettings());
            Assert.True(listener is not null, error.Sentence);
            using (listener)
            {
                listener.Start(sink, TimeProvider.System);
                Assert.True(TransportTable.TryParseWire(listener.Endpoint, EndpointUse.Connect, out var toConnect, out _));
                var result = await toConnect.DialAsync(new TransportSettings(), TimeProvider.System, connecting: null,
                    TestContext.Current.CancellationToken)
                    .WaitAsync(TcpTest.Guard, TestContext.Current.CancellationToken);
                Assert.True(result.Wire is not null, result.Sentence);
                result.Wire.Dispose();
                Assert.True(await TcpTest.EndsInOrderAsync(await sink.NextAsync()));
            }
        }
    }

    [Theory]
    [InlineData("tcp://127.0.0.1:{0}", "tcp://127.0.0.1:{0}", true)]
    [InlineData("tcp://127.0.0.1:{0}", "tcp://localhost:{0}", true)]
    [InlineData("tcp://127.0.0.1:{0}", "tcp://localhost:0", false)]
    [InlineData("tcp://127.0.0.1:{0}", "tcp://127.0.0.2:{0}", false)]
    [InlineData("tcp://127.0.0.1:{0}", "tcp://*:{0}", false)]
    [InlineData("tcp://127.0.0.1:{0}", "ipc://127.0.0.1:{0}", false)]
    [InlineData("tcp://*:{0}", "tcp://0.0.0.0:{0}", true)]
    [InlineData("tcp://*:{0}", "tcp://*:{0}", false)] // unless it was bound so, which its user knows
    [InlineData("tcp://*:{0}", "tcp://127.0.0.1:{0}", false)]
    public void A_tcp_listener_is_named_by_every_name_of_its_address_but_not_by_a_wildcard(string bound, string text, bool names)
    {
        using var listener = TcpTest.Listen(string.Format(null, bound, 0));
        Assert.True(TransportTable.TryParseWire(
            string.Format(null, text, listener.LocalEndPoint!.Port), EndpointUse.Bind, out var target, out _));
        Assert.Equal(names, target.Names(listener));
    }

    [Fact]
    public void An_address_is_written_as_an_endpoint()
    {
        Assert.Equal("tcp://127.0.0.1:1", Format(new IPEndPoint(IPAddress.Loopback, 1), "tcp", "tcp://*:1"));
        Assert.Equal("tls://127.0.0.1:1", Format(new IPEndPoint(IPAddress.Loopback, 1), "tls", "tls://*:1"));
        Assert.Equal("wss://[::1]:1/", Format(new IPEndPoint(IPAddress.IPv6Loopback, 1), "wss", "wss://*:1"));
        Assert.Equal("ws://127.0.0.1:1/a/b?…", Format(new IPEndPoint(IPAddress.Loopback, 1), "ws", "ws://*:1/a/b?c"));
        Assert.Equal("", Format(null, "tcp", "tcp://*:1"));
        Assert.SkipUnless(OperatingSystem.IsLinux(), "abstract names are Linux's");
        Assert.Equal("ipc:///tmp/a", Format(new UnixDomainSocketEndPoint("/tmp/a"), "ipc", "ipc://a"));
        Assert.Equal("ipc://@a", Format(new UnixDomainSocketEndPoint("\0a"), "ipc", "ipc://a"));
    }

    private static string Format(EndPoint? address, string scheme, string endpoint) =>
        TransportTable.Find(scheme)!.Format(address, scheme, endpoint);
}
