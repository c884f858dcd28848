using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Stream;

/// <summary>Passing received messages on as they came.</summary>
public sealed class SendManyTests
{
    /// <summary>Size and number of messages on both sides of what is copied and what is referred to, within one read and over
    /// many.</summary>
    public static TheoryData<int, int> Bursts => new()
    {
        { 0, 10 },
        { 1, 300 },
        { 64, 100 },
        { 1024, 30 },
        { 5_000, 40 },
        { 20_000, 9 },
        { 300_000, 3 },
    };

    [Theory]
    [MemberData(nameof(Bursts))]
    public async Task Received_messages_sent_back_by_SendMany_arrive_whole_and_in_order(int size, int count)
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint);
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        uint id = await socket.NextConnectedAsync();
        Task echo = EchoAsync(socket, id, count);
        await peer.AssertEchoedAsync([.. Enumerable.Range(0, count).Select(i => Wire.Pattern(size, i))]);
        await echo;
    }

    [Fact]
    public async Task A_burst_is_passed_on_by_reference_and_not_copied()
    {
        await using var fixture = new StreamFixture();
        (StreamSocket socket, RawPeer source, uint silent) = await ConnectSourceAndSilentAsync(fixture);
        socket.To(silent).Send(new byte[8_000_000]); // More than the kernel takes.
        await fixture.Context.WhenIdleAsync().Guarded();

        await source.SendAsync(Wire.Frames(Enumerable.Range(0, 60).Select(static i => Wire.Pattern(1024, i))));
        List<StreamMessage> burst = await TakeAsync(socket, 60);
        await fixture.Context.WhenIdleAsync().Guarded();
        long before = fixture.Pool.GetStatistics().BytesRented;
        long queued = Peer(socket, silent).QueuedBytes;
        Assert.Equal(60, socket.SendMany(silent, burst.ToArray()));
        Assert.Equal(queued + (60 * 1028), Peer(socket, silent).QueuedBytes);
        Assert.InRange(fixture.Pool.GetStatistics().BytesRented, 0, before);
    }

    [Fact]
    public async Task SendMany_keeps_the_order_among_other_sends_and_messages_of_other_peers()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint);
        RawPeer one = await fixture.ConnectAsync(endpoint);
        await socket.NextConnectedAsync();
        RawPeer two = await fixture.ConnectAsync(endpoint);
        await socket.NextConnectedAsync();
        RawPeer reader = await fixture.ConnectAsync(endpoint);
        uint id = await socket.NextConnectedAsync();
        await one.SendAsync(Wire.Frames(Enumerable.Range(0, 100).Select(static i => Wire.Pattern(700, i))));
        List<StreamMessage> first = await TakeAsync(socket, 100);
        await two.SendAsync(Wire.Frames(Enumerable.Range(100, 100).Select(static i => Wire.Pattern(700, i))));
        List<StreamMessage> second = await TakeAsync(socket, 100);
        var expected = new List<byte[]>();
        for (int i = 0; i < 100; i += 10)
        {
            StreamMessage[] mixed = [.. first[i..(i + 10)], .. second[i..(i + 10)]];
            expected.AddRange(mixed.Select(static message => message.Payload.ToArray()));
            Assert.Equal(20, socket.SendMany(id, mixed));
            socket.To(id).Send([(byte)i]);
            expected.Add([(byte)i]);
        }

        foreach (byte[] payload in expected)
        {
            Wire.AssertSame(payload, (await reader.ReadFrameAsync())!);
        }
    }

    [Theory]
    [InlineData(1)]
    [InlineData(3)]
    [InlineData(32)]
    [InlineData(33)]
    [InlineData(1000)]
    public async Task SendMany_sends_up_to_the_high_water_mark_and_leaves_the_others_to_the_caller(int highWaterMark)
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint,
            new StreamOptions { SendHighWaterMark = highWaterMark, SendBufferSize = 16 * 1024 });
        RawPeer source = await fixture.ConnectAsync(endpoint);
        await socket.NextConnectedAsync();
        RawPeer slow = await fixture.ConnectAsync(endpoint, receiveBuffer: 16 * 1024);
        uint id = await socket.NextConnectedAsync();

        // Some 400 KB, of which the kernel takes a part.
        const int Count = 400;
        await source.SendAsync(Wire.Frames(Enumerable.Range(0, Count).Select(static i => Wire.Pattern(1024, i))));
        List<StreamMessage> burst = await TakeAsync(socket, Count);
        int sent = socket.SendMany(id, burst.ToArray());
        Assert.Equal(highWaterMark > Count, sent == Count);
        Assert.True(Peer(socket, id).QueuedMessages <= highWaterMark);
        foreach (StreamMessage ended in burst.Take(sent))
        {
            Assert.Throws<ObjectDisposedException>(() => ended.Payload);
        }

        for (int i = 0; i < sent; i++)
        {
            Wire.AssertSame(Wire.Pattern(1024, i), (await slow.ReadFrameAsync())!);
        }

        for (int i = sent; i < Count; i++)
        {
            Wire.AssertSame(Wire.Pattern(1024, i), burst[i].Payload.ToArray());
            burst[i].Dispose();
        }
    }

    [Fact]
    public async Task Nothing_ends_when_there_is_no_such_peer_or_it_is_a_pipe()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint);
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        await socket.NextConnectedAsync();
        var hold = new TaskCompletionSource();
        uint pipe = await fixture.ConnectPipeAsync(socket, hold.Task);
        await peer.SendAsync(Wire.Frames([[1], [2]]));
        StreamMessage[] burst = [.. await TakeAsync(socket, 2)];
        Assert.Equal(0, socket.SendMany(77, burst));
        Assert.Equal(0, socket.SendMany(pipe, burst));
        hold.SetResult();
        foreach (StreamMessage message in burst)
        {
            Assert.Equal(1, message.Payload.Length);
            message.Dispose();
        }
    }

    [Fact]
    public async Task An_event_or_an_ended_message_is_refused_and_what_came_before_it_was_sent()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint);
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        StreamMessage connected = await socket.ReceiveAsync(Guard.Token).Guarded();
        await peer.SendAsync(Wire.Frames([[1], [2]]));
        List<StreamMessage> burst = await TakeAsync(socket, 2);
        Assert.Throws<ArgumentException>(() => socket.SendMany(connected.PeerId, [burst[0], connected]));
        Assert.Equal([1], (await peer.ReadFrameAsync())!);
        Assert.Throws<ObjectDisposedException>(() => socket.SendMany(connected.PeerId, [burst[0]]));
        Assert.Throws<ObjectDisposedException>(() => socket.SendMany(connected.PeerId, burst.ToArray()));
        Assert.Equal(0, socket.SendMany(connected.PeerId, ReadOnlySpan<StreamMessage>.Empty));
        Assert.Equal(1, socket.SendMany(connected.PeerId, [burst[1]]));
        Assert.Equal([2], (await peer.ReadFrameAsync())!);
    }

    [Fact]
    public async Task Forwarded_messages_that_are_never_written_release_their_memory()
    {
        await using var fixture = new StreamFixture();
        (StreamSocket socket, RawPeer source, uint silent) = await ConnectSourceAndSilentAsync(fixture);
        for (int round = 0; round < 20; round++)
        {
            await source.SendAsync(Wire.Frames(Enumerable.Range(0, 100).Select(static i => Wire.Pattern(4000, i))));
            Assert.Equal(100, socket.SendMany(silent, (await TakeAsync(socket, 100)).ToArray()));
        }

        Assert.True(socket.TryGetPeer(silent, out StreamPeer? peer));
        peer.Disconnect(abort: true);

        // The fixture checks that every buffer came back.
    }

    /// <summary>Two peers: one that speaks, and one that never reads, with little room on the way to it.</summary>
    private static async Task<(StreamSocket Socket, RawPeer Source, uint Silent)> ConnectSourceAndSilentAsync(StreamFixture fixture)
    {
        StreamSocket socket = fixture.Bind(out string endpoint, new StreamOptions { SendBufferSize = 16 * 1024 });
        RawPeer source = await fixture.ConnectAsync(endpoint);
        await socket.NextConnectedAsync();
        await fixture.ConnectAsync(endpoint, receiveBuffer: 16 * 1024);
        return (socket, source, await socket.NextConnectedAsync());
    }

    private static async Task EchoAsync(StreamSocket socket, uint id, int count)
    {
        var capacity = new StreamMessage[50];
        while (count > 0)
        {
            int taken = await socket.ReceiveManyAsync(capacity, Guard.Token).Guarded();
            Assert.Equal(taken, socket.SendMany(id, capacity.AsSpan(0, taken)));
            count -= taken;
        }
    }

    private static async Task<List<StreamMessage>> TakeAsync(StreamSocket socket, int count)
    {
        var all = new List<StreamMessage>();
        var capacity = new StreamMessage[count];
        while (all.Count < count)
        {
            int taken = await socket.ReceiveManyAsync(capacity.AsMemory(0, count - all.Count), Guard.Token).Guarded();
            all.AddRange(capacity.AsSpan(0, taken));
        }

        return all;
    }

    private static PeerStatistics Peer(StreamSocket socket, uint id) => socket.TryGetPeer(id, out StreamPeer? peer) ? peer.GetStatistics()
        : throw new InvalidOperationException("The peer is gone.");
}
