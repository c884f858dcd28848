using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native test_asio_ws: binding and connecting over ws and wss. The plumbing below it, which that program tests first, is
/// System.Net.WebSockets here.</summary>
public sealed class AsioWsTests
{
    [Fact]
    public async Task A_wildcard_port_is_resolved_in_the_last_endpoint_and_the_path_is_the_root()
    {
        await using var fixture = new StreamFixture();
        PairSocket server = fixture.Context.CreatePair();
        server.Bind("ws://127.0.0.1:*");
        Assert.Matches("^ws://127\\.0\\.0\\.1:[0-9]+/$", server.LastEndpoint);
    }

    [Fact]
    public async Task A_path_is_kept_in_the_last_endpoint_and_connects()
    {
        await using var fixture = new StreamFixture();
        PairSocket server = fixture.Context.CreatePair();
        PairSocket client = fixture.Context.CreatePair();
        server.Bind("ws://127.0.0.1:*/my/custom/path");
        Assert.Matches("^ws://127\\.0\\.0\\.1:[0-9]+/my/custom/path$", server.LastEndpoint);
        client.Connect(server.LastEndpoint);
        await SocketWords.BounceAsync(server, client);
    }

    [Fact]
    public async Task A_server_bound_to_a_path_takes_any_path()
    {
        await using var fixture = new StreamFixture();
        PairSocket server = fixture.Context.CreatePair();
        PairSocket client = fixture.Context.CreatePair();
        server.Bind("ws://127.0.0.1:*/here");
        client.Connect(server.LastEndpoint.Replace("/here", "/there", StringComparison.Ordinal));
        await SocketWords.BounceAsync(server, client);
    }

    [Theory]
    [InlineData(Link.Ws)]
    [InlineData(Link.Wss)]
    public async Task A_pair_bounces(string transport) => await WithPairAsync(transport, SocketWords.BounceAsync);

    [Theory]
    [InlineData(Link.Ws)]
    [InlineData(Link.Wss)]
    public async Task A_message_of_one_mebibyte_arrives_unchanged(string transport) =>
        await WithPairAsync(transport, static async (server, client) =>
    {
        byte[] sent = Wire.Pattern(1024 * 1024);
        client.Send(sent);
        using Message received = await server.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal(1, received.PartCount);
        Wire.AssertSame(sent, received.Span.ToArray());
    });

    [Theory]
    [InlineData(Link.Ws)]
    [InlineData(Link.Wss)]
    public async Task A_burst_of_a_hundred_messages_arrives_in_order(string transport) =>
        await WithPairAsync(transport, static async (server, client) =>
    {
        for (int i = 0; i < 100; i++)
        {
            client.Say($"message {i}");
        }

        for (int i = 0; i < 100; i++)
        {
            Assert.Equal($"message {i}", await server.HearOneAsync());
        }
    });

    [Fact]
    public async Task A_publication_reaches_a_subscriber_of_its_topic()
    {
        await using var fixture = new StreamFixture();
        PubSocket pub = fixture.Context.CreatePub();
        SubSocket sub = fixture.Context.CreateSub();
        sub.Subscribe("A");
        sub.Connect(pub.Bind(Link.Any(Link.Ws)));
        await fixture.UntilAsync(() => pub.TopicCount == 1);
        pub.Say("B for nobody");
        pub.Say("A for you");
        Assert.Equal("A for you", await sub.HearOneAsync());
        sub.HearsNothing();
    }

    [Fact]
    public async Task Unbind_needs_the_last_endpoint_to_the_letter()
    {
        await using var fixture = new StreamFixture();
        PairSocket server = fixture.Context.CreatePair();
        string endpoint = server.Bind(Link.Any(Link.Ws));
        SocketWords.Fails("ENOENT", () => server.Unbind(endpoint.TrimEnd('/')));
        server.Unbind(endpoint);
    }

    [Theory]
    [InlineData("ws://")]
    [InlineData("ws://127.0.0.1")]
    [InlineData("ws://127.0.0.1:")]
    [InlineData("ws://127.0.0.1:port/")]
    [InlineData("ws://127.0.0.1:70000/")]
    [InlineData("ws://:8080/")]
    [InlineData("wss://127.0.0.1/path:80")]
    public async Task A_text_that_is_no_WebSocket_endpoint_is_refused_by_bind_and_connect(string text)
    {
        await using var fixture = new StreamFixture();
        PairSocket socket = fixture.Context.CreatePair();
        SocketWords.Fails("EINVAL", () => socket.Connect(text));
        SocketWords.Fails("EINVAL", () => socket.Bind(text));
    }

    [Theory]
    [InlineData("ws://127.0.0.1:*/")]
    [InlineData("ws://127.0.0.1:0/")]
    [InlineData("ws://*:8080/")]
    public async Task A_wildcard_WebSocket_endpoint_is_refused_by_connect(string text)
    {
        await using var fixture = new StreamFixture();
        PairSocket socket = fixture.Context.CreatePair();
        SocketWords.Fails("EINVAL", () => socket.Connect(text));
    }

    private static async Task WithPairAsync(string transport, Func<PairSocket, PairSocket, Task> play)
    {
        await using var fixture = new StreamFixture();
        PairSocket server = fixture.Context.CreatePair();
        PairSocket client = fixture.Context.CreatePair();
        Link.Prepare(transport, fixture, server, client);
        client.Connect(server.Bind(Link.Any(transport)));
        await play(server, client);
    }
}
