using Net.Zlink.Monitoring;
using Net.Zlink.Protocol;
using Net.Zlink.Protocol.Stream;
using Net.Zlink.Tests.Protocol.Zmp;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Protocol;

/// <summary>Who comes to the wrong port is recognised by what he says first.</summary>
public sealed class ProtocolSnifferTests
{
    public static TheoryData<string, string> Known => new()
    {
        { "474554202F20485454502F312E31", "HTTP" },
        { "485454502F312E3120323030204F4B", "HTTP" },
        { "16030100F5010000F1", "TLS" },
        { "15030300020150", "TLS" },
        { "FF00000000000000017F", "ZMTP" },
        { "5353482D322E302D", "SSH" },
    };

    [Theory]
    [MemberData(nameof(Known))]
    public void A_known_protocol_is_named_by_its_first_bytes(string bytes, string what) =>
        Assert.Contains(what, ProtocolSniffer.Of(Convert.FromHexString(bytes)), StringComparison.Ordinal);

    [Theory]
    [InlineData("")]
    [InlineData("474554")]
    [InlineData("00000400")]
    [InlineData("16020000")]
    public void Bytes_of_an_unknown_protocol_have_no_name(string bytes) => Assert.Null(ProtocolSniffer.Of(Convert.FromHexString(bytes)));

    [Theory]
    [MemberData(nameof(Known))]
    public async Task A_ZMP_socket_says_so_in_the_event(string bytes, string what)
    {
        await using var fixture = new ContextFixture();
        DealerSocket socket = fixture.Context.CreateDealer();
        using EventReader monitor = socket.ReadEvents(SocketEventTypes.Disconnected);
        RawPeer peer = await fixture.ConnectAsync(socket.Bind("tcp://127.0.0.1:0"));
        await peer.SendAsync(Convert.FromHexString(bytes).Concat(new byte[300]).ToArray());
        Assert.Contains(what, (await monitor.ReadAsync(Guard.Token).Guarded()).Detail, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Of_a_ZMP_peer_with_a_fault_nothing_of_the_kind_is_said()
    {
        await using var fixture = new ContextFixture();
        DealerSocket socket = fixture.Context.CreateDealer();
        using EventReader monitor = socket.ReadEvents(SocketEventTypes.Disconnected);
        RawPeer peer = await fixture.ConnectAsync(socket.Bind("tcp://127.0.0.1:0"));
        await peer.SendAsync(ZmpFixture.Frame(2, new byte[300]));
        Assert.EndsWith("hello too large", (await monitor.ReadAsync(Guard.Token).Guarded()).Detail, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(0x5A010200, "ZMP")]
    [InlineData(0x16030100, "TLS")]
    [InlineData(0x47455420, "HTTP")]
    public void A_length_that_is_none_says_so_on_a_STREAM_socket(uint announced, string what) =>
        Assert.Contains(what, new TooLongFrame(announced, 1000, isMessage: false).Sentence, StringComparison.Ordinal);

    [Fact]
    public async Task A_tls_endpoint_whose_peer_speaks_no_TLS_says_so()
    {
        using var certificates = new TestCertificates();
        await using var fixture = new ContextFixture();
        DealerSocket socket = fixture.Context.CreateDealer();
        socket.Options.Tls.Certificate = certificates.Server;
        using EventReader monitor = socket.ReadEvents(SocketEventTypes.HandshakeFailedNoDetail);
        string endpoint = socket.Bind("tls://127.0.0.1:0");
        RawPeer peer = await fixture.ConnectAsync(endpoint.Replace("tls://", "tcp://", StringComparison.Ordinal));
        await peer.SendAsync(ZmpFixture.DealerGreeting([]));
        Assert.Contains("does not speak TLS", (await monitor.ReadAsync(Guard.Token).Guarded()).Detail, StringComparison.Ordinal);
    }
}
