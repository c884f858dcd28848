using System.Net;
using System.Net.Sockets;
using Net.Zlink.Transports;
using Net.Zlink.Transports.Tcp;
using Xunit;

namespace Net.Zlink.Tests.Transports.Tcp;

public sealed class TcpResolverTests
{
    private readonly FakeNames _names = new FakeNames()
        .Host("four", "10.0.0.4")
        .Host("six", "2001:db8::6")
        .Host("both", "10.0.0.1", "2001:db8::1")
        .Host("shadowed", "10.0.0.66")
        .Host("mapped", "::ffff:10.0.0.7")
        .Host("empty")
        .Interface("shadowed", "10.1.0.1")
        .Interface("wan", "fe80::1%7", "10.2.0.1", "2001:db8::2")
        .Interface("lan", "fe80::1%7", "10.3.0.1")
        .Interface("local", "fe80::1%7")
        .Interface("down");

    private static CancellationToken Cancellation => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData("tcp://*:7", false, "tcp://0.0.0.0:7")]
    [InlineData("tcp://*:7", true, "tcp://[::]:7")]
    [InlineData("tcp://127.0.0.1:7", false, "tcp://127.0.0.1:7")]
    [InlineData("tcp://127.0.0.1:7", true, "tcp://[::ffff:127.0.0.1]:7")]
    [InlineData("tcp://[::1]:7", true, "tcp://[::1]:7")]
    [InlineData("tcp://[fe80::1%3]:7", true, "tcp://[fe80::1%3]:7")]
    [InlineData("tcp://four:7", false, "tcp://10.0.0.4:7")]
    [InlineData("tcp://four:7", true, "tcp://[::ffff:10.0.0.4]:7")]
    [InlineData("tcp://both:7", false, "tcp://10.0.0.1:7")]
    [InlineData("tcp://both:7", true, "tcp://[2001:db8::1]:7")]
    [InlineData("tcp://shadowed:7", false, "tcp://10.1.0.1:7")]
    [InlineData("tcp://wan:7", false, "tcp://10.2.0.1:7")]
    [InlineData("tcp://wan:7", true, "tcp://[2001:db8::2]:7")]
    [InlineData("tcp://lan:7", true, "tcp://[::ffff:10.3.0.1]:7")]
    [InlineData("tcp://local:7", true, "tcp://[fe80::1%7]:7")]
    public void A_place_to_listen_at_becomes_one_address(string text, bool ipv6, string expected)
    {
        TcpAddress address = TcpTest.ToBind(text).Address;
        IPEndPoint? endPoint = TcpResolver.ResolveBind(address, ipv6, _names, out var error);
        Assert.True(endPoint is not null, error.Sentence);
        Assert.Equal(expected, TcpEndpoint.Format(endPoint, "tcp", ""));
        Assert.Equal(ipv6 ? AddressFamily.InterNetworkV6 : AddressFamily.InterNetwork, endPoint.AddressFamily);
    }

    [Theory]
    [InlineData("tcp://six:7", false, "IPv6 option")]
    [InlineData("tcp://local:7", false, "IPv6 option")]
    [InlineData("tcp://down:7", true, "no address")]
    [InlineData("tcp://empty:7", true, "no address")]
    [InlineData("tcp://nowhere:7", true, "check the spelling")]
    [InlineData("tcp://[::1]:7", false, "IPv6 option")]
    [InlineData("tcp://[::ffff:127.0.0.1]:7", false, "IPv6 option")]
    [InlineData("tcp://[fe80::1%nope-nope]:7", true, "no network interface \"nope-nope\";")]
    public void A_place_that_is_not_there_is_told_with_a_way_out(string text, bool ipv6, string advice)
    {
        Assert.Null(TcpResolver.ResolveBind(TcpTest.ToBind(text).Address, ipv6, _names, out var error));
        Assert.Equal(ZlinkError.NoDevice, error.Code);
        Assert.Contains(advice, error.Sentence, StringComparison.Ordinal);
        Assert.True(TcpTest.IsOneLine(error.Sentence), error.Sentence);
    }

    [Fact]
    public void A_name_server_that_does_not_answer_is_not_mistaken_for_a_wrong_name()
    {
        _names.UnknownHost = SocketError.TryAgain;
        Assert.Null(TcpResolver.ResolveBind(TcpTest.ToBind("tcp://nowhere:7").Address, ipv6: false, _names, out var error));
        Assert.Equal(SocketError.TryAgain, error.OsError);
        Assert.Contains("name server", error.Sentence, StringComparison.Ordinal);
    }

    [Fact]
    public void A_lookup_for_which_this_process_has_no_descriptors_is_not_mistaken_for_a_wrong_name()
    {
        _names.UnknownHost = SocketError.SocketError; // what the runtime then says
        Assert.Null(TcpResolver.ResolveBind(TcpTest.ToBind("tcp://nowhere:7").Address, ipv6: false, _names, out var error));
        Assert.Equal(SocketError.TryAgain, error.OsError);
        Assert.Contains("ulimit", error.Sentence, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("127.0.0.1", false, "127.0.0.1")]
    [InlineData("127.0.0.1", true, "127.0.0.1")]
    [InlineData("[::ffff:127.0.0.1]", false, "127.0.0.1")]
    [InlineData("[::1]", true, "::1")]
    [InlineData("[fe80::1%3]", true, "fe80::1%3")]
    [InlineData("both", false, "10.0.0.1")]
    [InlineData("both", true, "10.0.0.1 2001:db8::1")]
    [InlineData("mapped", true, "10.0.0.7")]
    public async Task A_destination_becomes_its_addresses_in_order(string host, bool ipv6, string expected)
    {
        var (addresses, error) = await Destination(host, ipv6);
        Assert.Equal(expected, string.Join(' ', addresses.Select(static a => a.ToString())));
        Assert.Equal(EndpointError.None, error);
    }

    [Theory]
    [InlineData("[::1]", false, "IPv6 option")]
    [InlineData("six", false, "IPv6 option")]
    [InlineData("empty", true, "no address")]
    [InlineData("nowhere", true, "check the spelling")]
    [InlineData("wan", true, "check the spelling")] // an interface's name is no destination
    [InlineData("[fe80::1%nope-nope]", true, "network interface")]
    public async Task A_destination_without_an_address_is_told_with_a_way_out(string host, bool ipv6, string advice)
    {
        var (addresses, error) = await Destination(host, ipv6);
        Assert.Empty(addresses);
        Assert.Equal(ZlinkError.NoDevice, error.Code);
        Assert.Contains(advice, error.Sentence, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("127.0.0.1:5", AddressFamily.InterNetwork, "tcp://127.0.0.1:5")]
    [InlineData("[::ffff:127.0.0.1]:5", AddressFamily.InterNetwork, "tcp://127.0.0.1:5")]
    [InlineData("[::1]:*", AddressFamily.InterNetworkV6, "tcp://[::1]:0")]
    [InlineData("wan:5", AddressFamily.InterNetwork, "tcp://10.2.0.1:5")]
    [InlineData("wan:5", AddressFamily.InterNetworkV6, "tcp://[2001:db8::2]:5")]
    [InlineData("lan:5", AddressFamily.InterNetworkV6, "tcp://[fe80::1%7]:5")]
    public void A_source_becomes_an_address_of_the_destinations_family(string source, AddressFamily family, string expected)
    {
        Assert.True(Source(source, family, out var endPoint, out var error), error.Sentence);
        Assert.Equal(expected, TcpEndpoint.Format(endPoint, "tcp", ""));
    }

    [Theory]
    [InlineData("127.0.0.1:5", AddressFamily.InterNetworkV6, "differ in family")]
    [InlineData("[::1]:5", AddressFamily.InterNetwork, "differ in family")]
    [InlineData("local:5", AddressFamily.InterNetwork, "no IPv4 address")]
    [InlineData("down:5", AddressFamily.InterNetworkV6, "no address")]
    [InlineData("four:5", AddressFamily.InterNetwork, "neither an address nor a network interface")]
    [InlineData("[fe80::1%nope-nope]:5", AddressFamily.InterNetworkV6, "network interface")]
    public void A_source_that_is_not_there_is_told_with_a_way_out(string source, AddressFamily family, string advice)
    {
        Assert.False(Source(source, family, out _, out var error));
        Assert.Equal(ZlinkError.NoDevice, error.Code);
        Assert.Contains(advice, error.Sentence, StringComparison.Ordinal);
        Assert.Equal(0, _names.Lookups); // no host is asked for a source
    }

    [Fact]
    public void The_systems_interfaces_are_found_by_name_and_others_are_not()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "the loopback interface has another name here");
        Assert.Contains(IPAddress.Loopback, NameSource.System.InterfaceAddresses("lo")!);
        Assert.Null(NameSource.System.InterfaceAddresses("LO"));
        Assert.Null(NameSource.System.InterfaceAddresses("no-such-interface"));
    }

    [Fact]
    public void A_zone_may_be_an_interfaces_name()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux() && TcpTest.HasIPv6, "no interface lo with IPv6 here");
        var address = TcpTest.ToBind("tcp://[fe80::1%lo]:7").Address;
        IPEndPoint? endPoint = TcpResolver.ResolveBind(address, ipv6: true, NameSource.System, out var error);
        Assert.True(endPoint is not null, error.Sentence);
        Assert.NotEqual(0, endPoint.Address.ScopeId);
    }

    private Task<(IPAddress[] Addresses, EndpointError Error)> Destination(string host, bool ipv6) =>
        TcpResolver.ResolveDestinationAsync(TcpTest.ToConnect($"tcp://{host}:7").Address.Host, ipv6, _names, Cancellation);

    private bool Source(string source, AddressFamily family, out IPEndPoint endPoint, out EndpointError error)
    {
        TcpAddress address = TcpTest.ToConnect($"tcp://{source};127.0.0.1:7").Address;
        endPoint = TcpResolver.ResolveSource(address.SourceHost!, address.SourcePort, family, _names, out error)!;
        return endPoint is not null;
    }
}
