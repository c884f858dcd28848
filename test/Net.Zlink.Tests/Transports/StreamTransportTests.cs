using Net.Zlink.Monitoring;
using Net.Zlink.Porting;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Transports;

/// <summary>STREAM over tls, ws and wss, with clients that know nothing of this library: docs/protocol.md sections 1 to 5 hold there as on
/// tcp.</summary>
public sealed class StreamTransportTests : IDisposable
{
    private const int DefaultLimit = 8 * 1024 * 1024;

    private readonly TestCertificates _certificates = new();

    public static TheoryData<string> Schemes { get; } = ["tls", "ws", "wss"];

    public static MatrixTheoryData<string, int> Limits { get; } = new(["tls", "ws", "wss"], [0, 1, 100, 70_000]);

    public void Dispose() => _certificates.Dispose();

    [Theory]
    [MemberData(nameof(Schemes))]
    public async Task Each_connection_that_is_complete_is_a_peer_with_its_own_id_from_its_connect_to_its_disconnect(string scheme)
    {
        await using var fixture = new StreamFixture();
        StreamSocket server = Server(fixture);
        using EventReader monitor = server.ReadEvents(
            SocketEventTypes.Accepted | SocketEventTypes.ConnectionReady | SocketEventTypes.HandshakeFailedNoDetail
                | SocketEventTypes.Disconnected);
        string endpoint = server.Bind($"{scheme}://127.0.0.1:0");
        var clients = new List<LayeredClient>();
        for (uint id = 1; id <= 3; id++)
        {
            clients.Add(fixture.Own(await LayeredClient.ConnectAsync(endpoint)));
            Assert.Equal(id, await server.NextConnectedAsync());
            await AssertEventsAsync(monitor, (SocketEventTypes.Accepted, null), (SocketEventTypes.ConnectionReady, 0));
        }

        // Who does not complete the transport's handshake is nobody: the application does not hear of him, and no id is lost.
        RawPeer nobody = fixture.Own(await RawPeer.ConnectAsync($"tcp://127.0.0.1:{new Uri(endpoint).Port}"));
        await nobody.SendAsync("?"u8.ToArray());
        nobody.EndSending();
        await nobody.ReadToAnyEndAsync();
        await AssertEventsAsync(monitor, (SocketEventTypes.Accepted, null), (SocketEventTypes.HandshakeFailedNoDetail, null),
            (SocketEventTypes.Disconnected, 3));

        for (uint id = 3; id >= 1; id--)
        {
            byte[] payload = Wire.Pattern(1_000, seed: (int)id);
            await clients[(int)id - 1].SendAsync(Wire.Frame(payload));
            Wire.AssertSame(payload, await server.NextDataAsync(id));
            Assert.True(server.To(id).TrySend(payload));
            Wire.AssertSame(Wire.Frame(payload), await clients[(int)id - 1].ReadAsync(payload.Length + Wire.HeaderSize));
        }

        // The peer's goodbye, its sudden end, and ours: each behind what came before it.
        await clients[1].SendAsync(Wire.Frame("last"u8));
        await clients[1].EndAsync();
        Assert.Empty(await clients[1].ReadToEndAsync());
        clients[1].Dispose();
        Assert.Equal("last"u8.ToArray(), await server.NextDataAsync(2));
        Assert.Equal((2u, DisconnectReason.Remote), await server.NextDisconnectedAsync());
        await AssertEventsAsync(monitor, (SocketEventTypes.Disconnected, 4));
        clients[2].Cut();
        (uint cut, DisconnectReason reason) = await server.NextDisconnectedAsync();
        Assert.Equal(3u, cut);
        Assert.True(reason is DisconnectReason.Remote or DisconnectReason.TransportError, $"{reason}");
        await AssertEventsAsync(monitor, (SocketEventTypes.Disconnected, 4));
        Assert.True(server.To(1).TrySend("last"u8));
        Assert.True(server.Disconnect(1));
        Assert.Equal((1u, DisconnectReason.Local), await server.NextDisconnectedAsync());
        Assert.Equal(Wire.Frame("last"u8), await clients[0].ReadToEndAsync());

        // No id is used again; an end of our own wish raised no event.
        using LayeredClient next = await LayeredClient.ConnectAsync(endpoint);
        Assert.Equal(4u, await server.NextConnectedAsync());
        await AssertEventsAsync(monitor, (SocketEventTypes.Accepted, null), (SocketEventTypes.ConnectionReady, 0));
        Assert.Equal(1, server.PeerCount);
    }

    [Theory]
    [MemberData(nameof(Limits))]
    public async Task A_payload_of_exactly_MaxMessageSize_is_taken_and_one_byte_more_ends_the_peer_on_its_header(string scheme, int limit)
    {
        await using var fixture = new StreamFixture();
        StreamSocket server = Server(fixture);
        server.Options.MaxMessageSize = limit;
        using EventReader monitor = server.ReadEvents(SocketEventTypes.Disconnected);
        using LayeredClient client = await LayeredClient.ConnectAsync(server.Bind($"{scheme}://127.0.0.1:0"));
        uint id = await server.NextConnectedAsync();
        byte[] payload = Wire.Pattern(limit);
        await client.SendAsync([.. Wire.Frame(payload), .. Wire.Frame(payload), .. Wire.Header((uint)limit + 1)]);
        Wire.AssertSame(payload, await server.NextDataAsync(id));
        Wire.AssertSame(payload, await server.NextDataAsync(id));
        Assert.Equal((id, DisconnectReason.ProtocolError), await server.NextDisconnectedAsync());
        Assert.Empty(await client.ReadToEndAsync());
        SocketEvent ended = await monitor.NextAsync(SocketEventTypes.Disconnected);
        Assert.Equal(3, ended.ToNativeValue());
        Assert.Contains("MaxMessageSize", ended.Detail, StringComparison.Ordinal);
        Assert.False(server.To(id).TrySend(payload).Tell(out SendFailure error));
        Assert.Equal(SendFailure.NoPeer, error);
    }

    [Theory]
    [MemberData(nameof(Schemes))]
    public async Task Without_MaxMessageSize_the_limit_is_8_MiB(string scheme)
    {
        await using var fixture = new StreamFixture();
        StreamSocket server = Server(fixture);
        using LayeredClient client = await LayeredClient.ConnectAsync(server.Bind($"{scheme}://127.0.0.1:0"));
        uint id = await server.NextConnectedAsync();
        byte[] payload = Wire.Pattern(DefaultLimit);
        Task sending = client.SendAsync(Wire.Frame(payload));
        Wire.AssertSame(payload, await server.NextDataAsync(id));
        await sending;
        await client.SendAsync(Wire.Header(DefaultLimit + 1));
        Assert.Equal((id, DisconnectReason.ProtocolError), await server.NextDisconnectedAsync());
    }

    [Theory]
    [MemberData(nameof(Schemes))]
    public async Task The_limit_is_that_of_the_side_that_connects_too(string scheme)
    {
        await using var fixture = new StreamFixture();
        StreamSocket server = Server(fixture);
        StreamSocket client = fixture.Context.CreateStream();
        client.Options.Tls.CaFile = _certificates.CaFile;
        client.Options.MaxMessageSize = 10;
        uint there = await client.ConnectAsync(server.Bind($"{scheme}://127.0.0.1:0"), Guard.Token).Guarded();
        Assert.Equal(there, await client.NextConnectedAsync());
        uint here = await server.NextConnectedAsync();
        Assert.True(server.To(here).TrySend(Wire.Pattern(10)));
        Assert.True(server.To(here).TrySend(Wire.Pattern(11)));
        Assert.Equal(Wire.Pattern(10), await client.NextDataAsync(there));
        Assert.Equal((there, DisconnectReason.ProtocolError), await client.NextDisconnectedAsync());
        Assert.Equal((here, DisconnectReason.Remote), await server.NextDisconnectedAsync());
    }

    [Theory]
    [MemberData(nameof(Schemes))]
    public async Task Empty_frames_are_frames_like_any_other_in_both_directions(string scheme)
    {
        const int Many = 1_000;
        await using var fixture = new StreamFixture();
        StreamSocket server = Server(fixture);
        using LayeredClient client = await LayeredClient.ConnectAsync(server.Bind($"{scheme}://127.0.0.1:0"));
        uint id = await server.NextConnectedAsync();
        await client.SendAsync(Wire.Frame(default));
        Assert.Empty(await server.NextDataAsync(id));
        await client.SendAsync(Wire.Frames([], [1], [], [2], []));
        foreach (byte[] payload in (byte[][])[[], [1], [], [2], []])
        {
            Assert.Equal(payload, await server.NextDataAsync(id));
        }

        await client.SendAsync(Wire.Frames(Enumerable.Repeat<byte[]>([], Many)));
        for (int i = 0; i < Many; i++)
        {
            Assert.Empty(await server.NextDataAsync(id));
        }

        for (int i = 0; i < Many; i++)
        {
            Assert.True(server.To(id).TrySend(ReadOnlySpan<byte>.Empty));
        }

        Assert.True(server.To(id).TrySend("end"u8));
        Wire.AssertSame([.. new byte[Many * Wire.HeaderSize], .. Wire.Frame("end"u8)],
            await client.ReadAsync((Many * Wire.HeaderSize) + Wire.HeaderSize + 3));
    }

    [Theory]
    [MemberData(nameof(Schemes))]
    public async Task Frames_whose_bytes_come_alone_arrive_whole(string scheme)
    {
        await using var fixture = new StreamFixture();
        StreamSocket server = Server(fixture);
        using LayeredClient client = await LayeredClient.ConnectAsync(server.Bind($"{scheme}://127.0.0.1:0"));
        uint id = await server.NextConnectedAsync();
        byte[][] payloads = [[], [7], Wire.Pattern(300), [0], [1]]; // The last two look like events in the native shape.
        foreach (byte one in Wire.Frames(payloads))
        {
            await client.SendAsync([one]);
        }

        foreach (byte[] payload in payloads)
        {
            Assert.Equal(payload, await server.NextDataAsync(id));
        }
    }

    private static async Task AssertEventsAsync(EventReader monitor, params (SocketEventTypes Type, long? Value)[] expected)
    {
        foreach ((SocketEventTypes type, long? value) in expected)
        {
            SocketEvent read = await monitor.ReadAsync(Guard.Token).Guarded();
            Assert.Equal((type, value ?? read.ToNativeValue()), (read.Type, read.ToNativeValue()));
        }
    }

    private StreamSocket Server(StreamFixture fixture)
    {
        StreamSocket server = fixture.Context.CreateStream();
        server.Options.Tls.Certificate = _certificates.Server;
        return server;
    }
}
