using System.Net;
using FsCheck;
using FsCheck.Fluent;
using Net.Zlink.Transports.Tcp;
using Xunit;

namespace Net.Zlink.Tests.Transports.Tcp;

public sealed class TcpEndpointTests
{
    [Theory]
    [InlineData("127.0.0.1", 41000, "tcp://127.0.0.1:41000")]
    [InlineData("0.0.0.0", 1, "tcp://0.0.0.0:1")]
    [InlineData("::", 41000, "tcp://[::]:41000")]
    [InlineData("::ffff:127.0.0.1", 41000, "tcp://[::ffff:127.0.0.1]:41000")]
    [InlineData("fe80::1%3", 65535, "tcp://[fe80::1%3]:65535")]
    public void An_address_is_written_as_a_numeric_endpoint(string address, int port, string text) =>
        Assert.Equal(text, TcpEndpoint.Format(new IPEndPoint(IPAddress.Parse(address), port), "tcp", ""));

    [Fact]
    public void Every_numeric_endpoint_reads_back_as_the_address_it_was_written_from()
    {
        var addresses = Gen.Elements(4, 16)
            .SelectMany(static length => Gen.Choose(0, 255).Select(static value => (byte)value).ArrayOf(length))
            .Zip(Gen.Choose(0, 65535))
            .ToArbitrary();
        Prop.ForAll(addresses, static pair =>
        {
            var endPoint = new IPEndPoint(new IPAddress(pair.Item1), pair.Item2);
            var text = TcpEndpoint.Format(endPoint, "tcp", "");
            var bind = TcpTest.ToBind(text);
            var connect = TcpTest.ToConnect(text);
            return endPoint.Address.Equals(bind.Address.Host.Address) && bind.Port == endPoint.Port
                && endPoint.Address.Equals(connect.Address.Host.Address) && connect.Port == endPoint.Port;
        }).Check(Config.QuickThrowOnFailure.WithMaxTest(500));
    }

    [Theory]
    [InlineData("host", true)]
    [InlineData("nowhere", false)]
    public void A_name_is_looked_up_once_however_many_endpoints_it_is_compared_with(string name, bool isKnown)
    {
        FakeNames names = new FakeNames().Host("host", "10.0.0.1");
        TcpEndpoint target = TcpTest.With(names, TcpTest.ToBind($"tcp://{name}:5"));
        for (int i = 0; i < 100; i++)
        {
            Assert.Equal(isKnown, target.Names(new IPEndPoint(IPAddress.Parse("10.0.0.1"), 5)));
            Assert.False(target.Names(new IPEndPoint(IPAddress.Parse("10.0.0.2"), 5)));
            Assert.False(target.Names(new IPEndPoint(IPAddress.Parse("10.0.0.1"), 6)));
        }

        Assert.Equal(1, names.Lookups);
        Assert.Equal(isKnown, target.Names(new IPEndPoint(IPAddress.Parse("::ffff:10.0.0.1"), 5)));
        Assert.Equal(2, names.Lookups); // a dual-stack socket's address is another question
    }
}
