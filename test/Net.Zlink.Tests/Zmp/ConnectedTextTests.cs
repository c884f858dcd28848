using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>What a text given to Connect does that is connected already, or that cannot be connected.</summary>
public sealed class ConnectedTextTests
{
    [Fact]
    public async Task A_connect_to_what_is_there_already_is_not_the_last_endpoint()
    {
        await using var fixture = new ContextFixture();
        DealerSocket socket = fixture.Context.CreateDealer(new DealerOptions { Linger = TimeSpan.Zero });
        string own = socket.Bind("tcp://127.0.0.1:0");
        string other = RawListener.NobodyListens();
        socket.Connect(other);
        string last = socket.Bind("inproc://last");
        socket.Connect(other);
        Assert.Equal(last, socket.LastEndpoint);
        socket.Connect(own);
        Assert.Equal(last, socket.LastEndpoint);
    }

    [Theory]
    [InlineData("tcp://127.0.0.1:{0}", "tcp://localhost:{0}", true)]
    [InlineData("tcp://127.0.0.1:{0}", "tcp://127.0.0.1:0{0}", true)]
    [InlineData("tls://127.0.0.1:{0}", "tls://localhost:{0}", true)]
    [InlineData("tcp://[::ffff:127.0.0.1]:{0}", "tcp://127.0.0.1:{0}", true)]
    [InlineData("tcp://localhost:{0}", "tcp://127.0.0.1:{0}", false)]
    [InlineData("tls://127.0.0.1:{0}", "tcp://127.0.0.1:{0}", false)]
    [InlineData("tcp://127.0.0.1:0;127.0.0.1:{0}", "tcp://127.0.0.1:{0}", false)]
    [InlineData("ws://127.0.0.1:{0}", "ws://127.0.0.1:{0}/", false)]
    public async Task A_disconnect_takes_a_name_of_an_address_that_was_given_in_numbers_but_not_the_other_way_round(
        string connected, string named, bool isTheSame)
    {
        await using var fixture = new ContextFixture();
        string port = RawListener.FreeAtLoopback().Split(':')[^1];
        DealerSocket socket = fixture.Context.CreateDealer(
            new DealerOptions { Linger = TimeSpan.Zero, IPv6 = connected.Contains('[', StringComparison.Ordinal) });
        socket.Connect(connected.Replace("{0}", port, StringComparison.Ordinal));
        named = named.Replace("{0}", port, StringComparison.Ordinal);
        if (isTheSame)
        {
            socket.Disconnect(named);
            Assert.Equal(0, socket.PeerCount);
        }

        Assert.Equal(ZlinkError.NotFound, Assert.Throws<ZlinkException>(() => socket.Disconnect(named)).Error);
    }

    [Theory]
    [InlineData("connect again")]
    [InlineData("bind a name")]
    [InlineData("connect and disconnect a name")]
    public async Task The_cost_of_a_connect_does_not_grow_with_the_number_of_endpoints(string call)
    {
        // 4,000 times as many to look through cost from 25 times on as much; without it the same.
        const int TooMuch = 10;
        const int Calls = 2_000;
        await using var fixture = new ContextFixture();
        (DealerSocket few, string fewText) = await CreateAsync("few", 1);
        (DealerSocket many, string manyText) = await CreateAsync("many", 4_000);
        Growth.AssertBelow(TooMuch, () => TimeOfCalls(few, fewText), () => TimeOfCalls(many, manyText));

        async Task<(DealerSocket Socket, string Text)> CreateAsync(string name, int endpoints)
        {
            DealerSocket socket = fixture.Context.CreateDealer(
                new DealerOptions { Linger = TimeSpan.Zero, ReconnectInterval = TimeSpan.FromHours(1) });
            string text = "";
            for (int i = 0; i < endpoints; i++)
            {
                text = string.Equals(call, "connect again", StringComparison.Ordinal)
                    ? $"ipc://{Path.Combine(Path.GetTempPath(), $"nobody-{name}-{i}")}" : $"inproc://nobody-{name}-{i}";
                socket.Connect(text);
            }

            // The first attempt of each is over, and the next an hour away: nothing else is at work.
            await Guard.UntilAsync(() => socket.GetPeers().All(static peer => peer.WhyNotConnected is not null), "each has failed once");
            return (socket, text);
        }

        TimeSpan TimeOfCalls(DealerSocket socket, string connected) => Growth.TimeOf(() =>
        {
            for (int i = 0; i < Calls; i++)
            {
                switch (call)
                {
                    case "connect again":
                        socket.Connect(connected);
                        break;
                    case "bind a name":
                        socket.Bind("inproc://other");
                        socket.Unbind("inproc://other");
                        break;
                    default:
                        socket.Connect("inproc://other");
                        socket.Disconnect("inproc://other");
                        break;
                }
            }
        });
    }
}
