using Net.Zlink.Porting;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Stream;

/// <summary>What Bind and ConnectAsync say to endpoints that make no sense: always a ZlinkException that quotes the text and says what to
/// write instead.</summary>
public sealed class EndpointNonsenseTests
{
    /// <summary>Text, what Bind says, what ConnectAsync says.</summary>
    public static TheoryData<string, ZlinkError, ZlinkError> Table => new()
    {
        { "", ZlinkError.InvalidArgument, ZlinkError.InvalidArgument },
        { " ", ZlinkError.InvalidArgument, ZlinkError.InvalidArgument },
        { "tcp", ZlinkError.InvalidArgument, ZlinkError.InvalidArgument },
        { "tcp:", ZlinkError.InvalidArgument, ZlinkError.InvalidArgument },
        { "tcp:/127.0.0.1:5555", ZlinkError.InvalidArgument, ZlinkError.InvalidArgument },
        { "tcp//127.0.0.1:5555", ZlinkError.InvalidArgument, ZlinkError.InvalidArgument },
        { "127.0.0.1:5555", ZlinkError.InvalidArgument, ZlinkError.InvalidArgument },
        { "://", ZlinkError.InvalidArgument, ZlinkError.InvalidArgument },
        { "://127.0.0.1:5555", ZlinkError.InvalidArgument, ZlinkError.InvalidArgument },
        { "tcp://", ZlinkError.InvalidArgument, ZlinkError.InvalidArgument },
        { "tcp://:", ZlinkError.InvalidArgument, ZlinkError.InvalidArgument },
        { "tcp://:5555", ZlinkError.InvalidArgument, ZlinkError.InvalidArgument },
        { "tcp://127.0.0.1", ZlinkError.InvalidArgument, ZlinkError.InvalidArgument },
        { "tcp://127.0.0.1:", ZlinkError.InvalidArgument, ZlinkError.InvalidArgument },
        { "tcp://127.0.0.1:port", ZlinkError.InvalidArgument, ZlinkError.InvalidArgument },
        { "tcp://127.0.0.1:70000", ZlinkError.InvalidArgument, ZlinkError.InvalidArgument },
        { "tcp://127.0.0.1:99999999999999999999", ZlinkError.InvalidArgument, ZlinkError.InvalidArgument },
        { "tcp://127.0.0.1:-5", ZlinkError.InvalidArgument, ZlinkError.InvalidArgument },
        { "tcp://127.0.0.1:+5", ZlinkError.InvalidArgument, ZlinkError.InvalidArgument },
        { "tcp://127.0.0.1:99 ", ZlinkError.InvalidArgument, ZlinkError.InvalidArgument },
        { "tcp://127.0.0.1: 99", ZlinkError.InvalidArgument, ZlinkError.InvalidArgument },
        { "tcp://127.0.0.1:0x50", ZlinkError.InvalidArgument, ZlinkError.InvalidArgument },
        { "tcp://127.0.0.1:1e3", ZlinkError.InvalidArgument, ZlinkError.InvalidArgument },
        { "tcp://127.0.0.1:5555/path", ZlinkError.InvalidArgument, ZlinkError.InvalidArgument },
        { "tcp://127.0.0.1:\u0665", ZlinkError.InvalidArgument, ZlinkError.InvalidArgument },
        { "tcp://[::1:5555", ZlinkError.InvalidArgument, ZlinkError.InvalidArgument },
        { "tcp://::1]:5555", ZlinkError.InvalidArgument, ZlinkError.InvalidArgument },
        { "tcp://[]:5555", ZlinkError.InvalidArgument, ZlinkError.InvalidArgument },
        { "tcp://two words:5555", ZlinkError.NoDevice, ZlinkError.InvalidArgument }, // a network interface may be called so
        { "tcp://a\0b:5555", ZlinkError.InvalidArgument, ZlinkError.InvalidArgument },
        { "TCP://127.0.0.1:5555", ZlinkError.ProtocolNotSupported, ZlinkError.ProtocolNotSupported },
        { " tcp://127.0.0.1:5555", ZlinkError.ProtocolNotSupported, ZlinkError.ProtocolNotSupported },
        { "udp://127.0.0.1:5555", ZlinkError.ProtocolNotSupported, ZlinkError.ProtocolNotSupported },
        { "http://127.0.0.1:5555", ZlinkError.ProtocolNotSupported, ZlinkError.ProtocolNotSupported },
        { "tcp://[::1]:0", ZlinkError.NoDevice, ZlinkError.None },
        { "tcp://192.0.2.1:5555", ZlinkError.AddressInUse, ZlinkError.None }, // an address reserved for documentation
        { "tcp://*:5555", ZlinkError.None, ZlinkError.InvalidArgument },
        { "tcp://127.0.0.1:*", ZlinkError.None, ZlinkError.InvalidArgument },
    };

    [Theory]
    [MemberData(nameof(Table))]
    public async Task Nonsense_is_refused_with_a_sentence_that_says_what_to_do(string endpoint, ZlinkError bind, ZlinkError connect)
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Context.CreateStream();
        if (bind != ZlinkError.None)
        {
            AssertHelpful(endpoint, bind, Assert.Throws<ZlinkException>(() => socket.Bind(endpoint)));
            AssertHelpful(endpoint, bind, Assert.Throws<ZlinkException>(() => socket.Bind(endpoint, TestHandler.Echo())));
            AssertHelpful(endpoint, bind, Assert.Throws<ZlinkException>(() => socket.BindPipe(endpoint, static _ => Task.CompletedTask)));
        }

        if (connect != ZlinkError.None)
        {
            AssertHelpful(endpoint, connect, await Assert.ThrowsAsync<ZlinkException>(
                () => socket.ConnectAsync(endpoint, Guard.Token).Guarded()));
            AssertHelpful(endpoint, connect, await Assert.ThrowsAsync<ZlinkException>(
                () => socket.ConnectPipeAsync(endpoint, Guard.Token).Guarded()));
        }

        Assert.Equal("", socket.LastEndpoint);
        ZlinkException unbind = Assert.Throws<ZlinkException>(() => socket.Unbind(endpoint));
        Assert.Equal(bind is ZlinkError.InvalidArgument or ZlinkError.ProtocolNotSupported ? bind : ZlinkError.NotFound, unbind.Error);
    }

    [Fact]
    public async Task Null_is_an_ArgumentNullException()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Context.CreateStream();
        Assert.Throws<ArgumentNullException>(() => socket.Bind(null!));
        Assert.Throws<ArgumentNullException>(() => socket.Bind("tcp://127.0.0.1:0", null!));
        Assert.Throws<ArgumentNullException>(() => socket.BindPipe("tcp://127.0.0.1:0", null!));
        Assert.Throws<ArgumentNullException>(() => socket.Unbind(null!));
        await Assert.ThrowsAsync<ArgumentNullException>(() => socket.ConnectAsync(null!, Guard.Token).Guarded());
        await Assert.ThrowsAsync<ArgumentNullException>(() => socket.ConnectAsync("tcp://127.0.0.1:1", null!, Guard.Token).Guarded());
        await Assert.ThrowsAsync<ArgumentNullException>(() => socket.ConnectPipeAsync(null!, Guard.Token).Guarded());
    }

    [Fact]
    public async Task A_port_in_use_is_AddressInUse_and_an_event_and_says_what_to_do()
    {
        await using var fixture = new StreamFixture();
        fixture.Bind(out string endpoint);
        StreamSocket second = fixture.Context.CreateStream();
        using var monitor = second.ReadEvents();
        ZlinkException thrown = Assert.Throws<ZlinkException>(() => second.Bind(endpoint));
        AssertHelpful(endpoint, ZlinkError.AddressInUse, thrown);
        Assert.Contains("in use", thrown.Message, StringComparison.Ordinal);
        Assert.Contains("choose another port", thrown.Message, StringComparison.Ordinal);
        Assert.IsType<System.Net.Sockets.SocketException>(thrown.InnerException);
        var failed = await monitor.NextAsync(Net.Zlink.Monitoring.SocketEventTypes.BindFailed);
        Assert.Equal(ZlinkError.AddressInUse.ToNativeNumber(), failed.Value);
        Assert.Equal(endpoint["tcp://".Length..], failed.LocalAddress);
    }

    private static void AssertHelpful(string endpoint, ZlinkError expected, ZlinkException thrown)
    {
        Assert.True(expected == thrown.Error, $"\"{endpoint}\": {thrown.Message}");
        Assert.EndsWith($"({expected})", thrown.Message, StringComparison.Ordinal);
        Assert.Contains("; ", thrown.Message, StringComparison.Ordinal); // what is wrong; what to do
        Assert.Contains($"\"{endpoint.Replace('\0', '?')}\"", thrown.Message, StringComparison.Ordinal);
    }
}
