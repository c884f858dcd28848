using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests;

/// <summary>A socket knows what it has bound and what it connects to.</summary>
public sealed class EndpointListTests
{
    [Fact]
    public async Task Endpoints_are_listed_while_they_are_bound_or_connected()
    {
        await using var fixture = new ContextFixture();
        DealerSocket socket = fixture.Context.CreateDealer(new DealerOptions { Linger = TimeSpan.Zero });
        Assert.Contains("  bound: nothing; connects to: nothing", socket.Describe(), StringComparison.Ordinal);
        string first = socket.Bind("tcp://127.0.0.1:0");
        string second = socket.Bind("ws://127.0.0.1:0/path");
        socket.Bind("inproc://here");
        socket.Connect("tcp://127.0.0.1:1");
        socket.Connect("inproc://there");
        socket.Connect("inproc://there");
        Assert.Equal([first, second, "inproc://here"], socket.BoundEndpoints);
        Assert.Equal(["tcp://127.0.0.1:1", "inproc://there", "inproc://there"], socket.ConnectedEndpoints);
        Assert.Contains($"  bound: {first}, {second}, inproc://here; connects to: tcp://127.0.0.1:1, inproc://there, inproc://there",
            socket.Describe(), StringComparison.Ordinal);
        socket.Unbind(second);
        socket.Unbind("inproc://here");
        socket.Disconnect("inproc://there");
        socket.Disconnect("tcp://127.0.0.1:1");
        Assert.Equal([first], socket.BoundEndpoints);
        await fixture.UntilAsync(() => socket.ConnectedEndpoints.Count == 0);
        socket.Dispose();
        Assert.Empty(socket.BoundEndpoints);
    }

    [Fact]
    public async Task Of_many_the_description_names_twenty()
    {
        await using var fixture = new ContextFixture();
        DealerSocket socket = fixture.Context.CreateDealer();
        for (int i = 0; i < 25; i++)
        {
            socket.Bind($"inproc://name-{i}");
        }

        Assert.Contains(", inproc://name-19 and 5 more; connects to: nothing", socket.Describe(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_STREAM_lists_what_it_has_connected_until_that_is_gone()
    {
        await using var fixture = new StreamFixture();
        StreamSocket server = fixture.Bind(out string endpoint);
        StreamSocket client = fixture.Context.CreateStream();
        await client.ConnectAsync(endpoint, Guard.Token).Guarded();
        Assert.Equal([endpoint], server.BoundEndpoints);
        Assert.Equal([endpoint], client.ConnectedEndpoints);
        server.Dispose();
        Assert.Empty(server.BoundEndpoints);
        await fixture.UntilAsync(() => client.ConnectedEndpoints.Count == 0);
    }
}
