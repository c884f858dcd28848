using System.Net;
using Net.Zlink.Transports.Tcp;
using Xunit;

namespace Net.Zlink.Tests.Transports.Tcp;

public sealed class TcpBindTargetTests
{
    [Theory]
    [InlineData("host", true)]
    [InlineData("nowhere", false)]
    public void A_name_is_looked_up_once_however_many_endpoints_it_is_compared_with(string name, bool isKnown)
    {
        FakeNames names = new FakeNames().Host("host", "10.0.0.1");
        var target = new TcpBindTarget($"tcp://{name}:5", TcpTest.ToBind($"tcp://{name}:5"), names);
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
