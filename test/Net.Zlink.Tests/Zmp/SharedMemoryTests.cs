using System.Buffers;
using Net.Zlink.Tests.Engine;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>A message for several peers, long and handed over or received: each of them gets the sender's own memory, and the last one to
/// let go gives it back.</summary>
public sealed class SharedMemoryTests
{
    private const int Long = 64 * 1024;

    // Longer than what is copied into each lane, shorter than what wires share.
    private const int Middle = 8 * 1024;

    public enum Sender
    {
        Pub,
        XPub,
        XSub,
    }

    [Theory]
    [InlineData(Sender.Pub)]
    [InlineData(Sender.XPub)]
    [InlineData(Sender.XSub)]
    public async Task Two_peers_of_the_process_read_the_memory_that_was_handed_over(Sender type)
    {
        await using var fixture = new ContextFixture();
        (Func<IMemoryOwner<byte>, int, ValueTask> send, _, ReceivingSocket[] peers) = Meet(fixture, type);
        var owner = new ArrayOwner(Long + 1);
        await send(owner, Long).AsTask().Guarded();
        foreach (ReceivingSocket peer in peers)
        {
            Assert.Equal(0, owner.Disposals);
            using Message message = await peer.ReceiveAsync(Guard.Token).Guarded();
            Assert.True(message.Span == owner.Array.AsSpan(0, Long));
        }

        Assert.Equal(1, owner.Disposals);
    }

    [Theory]
    [InlineData(Sender.Pub)]
    [InlineData(Sender.XPub)]
    [InlineData(Sender.XSub)]
    public async Task Two_peers_of_the_process_read_a_received_message_that_was_passed_on_where_it_lies(Sender type)
    {
        await using var fixture = new ContextFixture();
        (_, Action<Message> send, ReceivingSocket[] peers) = Meet(fixture, type);
        Message passed = await ReceiveOneAsync(fixture,
            static builder => builder.Add("short"u8).Add(Bytes(Long)).Add([]).Add(Bytes(Middle)));
        ReadOnlyMemory<byte>[] parts = [passed[0], passed[1], passed[2], passed[3]];
        send(passed);
        Assert.Throws<ObjectDisposedException>(() => passed.Memory);
        foreach (ReceivingSocket peer in peers)
        {
            using Message message = await peer.ReceiveAsync(Guard.Token).Guarded();
            Assert.Equal(parts.Length, message.PartCount);
            for (int i = 0; i < parts.Length; i++)
            {
                Assert.True(message[i].Span == parts[i].Span);
            }
        }
    }

    [Theory]
    [InlineData(Long)]
    [InlineData(Middle)]
    public async Task Peers_of_the_process_share_one_copy_of_a_payload_that_is_not_short(int length)
    {
        await using var fixture = new ContextFixture();
        PubSocket publisher = fixture.Context.CreatePub();
        SubSocket[] peers = await SubscribeAsync(fixture, publisher, "inproc://a", "inproc://b");
        publisher.Send(Bytes(length));
        using Message first = await peers[0].ReceiveAsync(Guard.Token).Guarded();
        using Message second = await peers[1].ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal(Bytes(length), first.Memory);
        Assert.True(first.Span == second.Span);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public async Task Beside_peers_on_wires_those_of_the_process_read_the_senders_memory_and_all_get_the_same_parts(int wires)
    {
        await using var fixture = new ContextFixture();
        PubSocket publisher = fixture.Context.CreatePub();
        SubSocket[] peers = await SubscribeAsync(
            fixture, publisher, ["inproc://a", "inproc://b", .. Enumerable.Repeat("tcp://127.0.0.1:0", wires)]);
        var owner = new ArrayOwner(Long);
        await publisher.SendAsync(owner, Long, Guard.Token).Guarded();
        var built = new ArrayOwner(Long);
        using (var builder = new MessageBuilder(fixture.Pool))
        {
            publisher.Send(builder.Add("head"u8).Add(built, Long).Add([]).Add("tail"u8));
            publisher.Send(builder.Add("all"u8).Add([]).Add("short"u8));
            publisher.Send(builder.Add("copied"u8).Add(Bytes(Long)).Add([]));
            publisher.Send(builder.Add(Bytes(Middle)));
        }

        Message passed = await ReceiveOneAsync(fixture, static builder => builder.Add("passed"u8).Add([]).Add("on"u8));
        ReadOnlyMemory<byte> place = passed.Memory;
        publisher.Send(passed);
        publisher.Send(Bytes(Long));
        publisher.Send(Bytes(Middle));
        publisher.Send("end"u8);
        byte[][][] expected =
        [
            [owner.Array],
            ["head"u8.ToArray(), built.Array, [], "tail"u8.ToArray()],
            ["all"u8.ToArray(), [], "short"u8.ToArray()],
            ["copied"u8.ToArray(), Bytes(Long), []],
            [Bytes(Middle)],
            ["passed"u8.ToArray(), [], "on"u8.ToArray()],
            [Bytes(Long)],
            [Bytes(Middle)],
            ["end"u8.ToArray()],
        ];
        for (int peer = 0; peer < peers.Length; peer++)
        {
            foreach (byte[][] parts in expected)
            {
                using Message message = await peers[peer].ReceiveAsync(Guard.Token).Guarded();
                Assert.Equal(parts, message.ToArrays());
                if (peer < 2)
                {
                    Assert.Equal(ReferenceEquals(parts[0], owner.Array), message.Span == owner.Array);
                    Assert.Equal(parts.Length == 4, message.PartCount == 4 && message[1].Span == built.Array);
                    Assert.Equal(parts[0].AsSpan().SequenceEqual("passed"u8), message.Span == place.Span);
                }
            }
        }

        await fixture.UntilAsync(() => (owner.Disposals, built.Disposals) == (1, 1));
        SocketStatistics counters = publisher.GetStatistics();
        Assert.Equal(expected.Length * peers.Length, counters.AcceptedMessages);
        Assert.Equal(0, counters.DroppedAtHighWaterMark + counters.UnmatchedMessages);
    }

    [Fact]
    public async Task Peers_on_wires_share_memory_that_was_handed_over()
    {
        await using var fixture = new ContextFixture();
        XSubSocket sender = fixture.Context.CreateXSub(new XSubOptions { Linger = TimeSpan.Zero });
        sender.Connect(fixture.Listen().Endpoint);
        sender.Connect(fixture.Listen().Endpoint);
        var owner = new ArrayOwner(Long);
        IMemoryOwner<byte> pooled = fixture.Pool.Rent(Long);
        Bytes(Long).CopyTo(pooled.Memory);
        await sender.SendAsync(owner, Long, Guard.Token).Guarded();
        await sender.SendAsync(pooled, Long, Guard.Token).Guarded();
        Assert.Equal(4, sender.GetStatistics().QueuedMessages);
        Assert.Equal(0, owner.Disposals); // A copy would have let go of it.
        sender.Dispose();
        await fixture.UntilAsync(() => owner.Disposals == 1);
    }

    [Fact]
    public async Task Of_memory_that_no_array_is_beneath_several_peers_share_one_copy()
    {
        await using var fixture = new ContextFixture();
        PubSocket publisher = fixture.Context.CreatePub();
        SubSocket[] peers = await SubscribeAsync(fixture, publisher, "inproc://a", "inproc://b", "tcp://127.0.0.1:0");
        var owner = new CountingOwner(Bytes(Long));
        await publisher.SendAsync(owner, Long, Guard.Token).Guarded();
        Assert.Equal(1, owner.Disposals);
        using Message first = await peers[0].ReceiveAsync(Guard.Token).Guarded();
        using Message second = await peers[1].ReceiveAsync(Guard.Token).Guarded();
        using Message third = await peers[2].ReceiveAsync(Guard.Token).Guarded();
        Assert.True(first.Span == second.Span);
        Assert.Equal(Bytes(Long), first.Memory);
        Assert.Equal(Bytes(Long), third.Memory);
    }

    [Theory]
    [InlineData(10)]
    [InlineData(Middle)]
    [InlineData(Long)]
    public async Task A_full_peer_misses_a_message_that_the_other_gets_and_its_memory_is_let_go_of_once(int length)
    {
        await using var fixture = new ContextFixture();
        PubSocket publisher = fixture.Context.CreatePub(new PubOptions { SendHighWaterMark = 1 });
        SubSocket[] peers = await SubscribeAsync(
            fixture, publisher, static () => new SubOptions { ReceiveHighWaterMark = 1 }, "inproc://a", "inproc://b");
        publisher.Send("1"u8);
        publisher.Send("2"u8); // Both are full now.
        var missed = new ArrayOwner(length);
        await publisher.SendAsync(missed, length, Guard.Token).Guarded();
        Assert.Equal(1, missed.Disposals);
        Assert.Equal(2, publisher.GetStatistics().DroppedAtHighWaterMark);
        for (int i = 0; i < 2; i++)
        {
            (await peers[1].ReceiveAsync(Guard.Token).Guarded()).Dispose();
        }

        var sent = new ArrayOwner(length);
        await publisher.SendAsync(sent, length, Guard.Token).Guarded();
        Assert.Equal(3, publisher.GetStatistics().DroppedAtHighWaterMark);
        using (Message message = await peers[1].ReceiveAsync(Guard.Token).Guarded())
        {
            Assert.Equal(sent.Array, message.Memory);
        }

        Assert.Equal(1, sent.Disposals);
    }

    [Fact]
    public async Task Peers_that_keep_only_the_newest_message_let_go_of_the_memory_of_the_one_before()
    {
        await using var fixture = new ContextFixture();
        PubSocket publisher = fixture.Context.CreatePub();
        SubSocket[] peers = await SubscribeAsync(
            fixture, publisher, static () => new SubOptions { Conflate = true }, "inproc://a", "inproc://b");
        var older = new ArrayOwner(Long);
        var newer = new ArrayOwner(Long);
        await publisher.SendAsync(older, Long, Guard.Token).Guarded();
        Assert.Equal(0, older.Disposals);
        await publisher.SendAsync(newer, Long, Guard.Token).Guarded();
        Assert.Equal(1, older.Disposals);
        foreach (SubSocket peer in peers)
        {
            using Message message = await peer.ReceiveAsync(Guard.Token).Guarded();
            Assert.True(message.Span == newer.Array);
        }

        Assert.Equal(1, newer.Disposals);
    }

    [Fact]
    public async Task A_send_that_waited_for_two_peers_gives_both_the_memory_that_was_handed_over()
    {
        await using var fixture = new ContextFixture();
        PubSocket publisher = fixture.Context.CreatePub(new PubOptions { NoDrop = true, SendHighWaterMark = 1 });
        SubSocket[] peers = await SubscribeAsync(
            fixture, publisher, static () => new SubOptions { ReceiveHighWaterMark = 1 }, "inproc://a", "inproc://b");
        int before = 0;
        while (publisher.TrySend("x"u8))
        {
            before++;
        }

        var owner = new ArrayOwner(Long);
        Task sending = publisher.SendAsync(owner, Long, Guard.Token).AsTask();
        Assert.False(sending.IsCompleted);
        foreach (SubSocket peer in peers)
        {
            for (int i = 0; i < before; i++)
            {
                (await peer.ReceiveAsync(Guard.Token).Guarded()).Dispose();
            }
        }

        await sending.Guarded();
        foreach (SubSocket peer in peers)
        {
            using Message message = await peer.ReceiveAsync(Guard.Token).Guarded();
            Assert.True(message.Span == owner.Array);
        }

        Assert.Equal(1, owner.Disposals);
    }

    /// <summary>A sender and two peers of its process that want everything.</summary>
    private static (Func<IMemoryOwner<byte>, int, ValueTask> SendOwner, Action<Message> SendMessage, ReceivingSocket[] Peers) Meet(
        ContextFixture fixture, Sender type)
    {
        string[] endpoints = ["inproc://a", "inproc://b"];
        if (type == Sender.XSub)
        {
            XSubSocket xsub = fixture.Context.CreateXSub();
            XPubSocket[] publishers = [.. endpoints.Select(_ => fixture.Context.CreateXPub())];
            for (int i = 0; i < endpoints.Length; i++)
            {
                xsub.Connect(publishers[i].Bind(endpoints[i]));
            }

            return ((owner, length) => xsub.SendAsync(owner, length, Guard.Token), message => xsub.Send(message), publishers);
        }

        SubSocket[] subscribers = [.. endpoints.Select(_ => fixture.Context.CreateSub())];
        PubSocket? pub = type == Sender.Pub ? fixture.Context.CreatePub() : null;
        XPubSocket? xpub = type == Sender.XPub ? fixture.Context.CreateXPub() : null;
        for (int i = 0; i < endpoints.Length; i++)
        {
            subscribers[i].Subscribe([]);
            subscribers[i].Connect(pub?.Bind(endpoints[i]) ?? xpub!.Bind(endpoints[i]));
        }

        return pub is null
            ? ((owner, length) => xpub!.SendAsync(owner, length, Guard.Token), message => xpub!.Send(message), subscribers)
            : ((owner, length) => pub.SendAsync(owner, length, Guard.Token), message => pub.Send(message), subscribers);
    }

    private static Task<SubSocket[]> SubscribeAsync(ContextFixture fixture, PubSocket publisher, params string[] endpoints) =>
        SubscribeAsync(fixture, publisher, static () => new SubOptions(), endpoints);

    private static async Task<SubSocket[]> SubscribeAsync(
        ContextFixture fixture, PubSocket publisher, Func<SubOptions> options, params string[] endpoints)
    {
        var peers = new SubSocket[endpoints.Length];
        for (int i = 0; i < endpoints.Length; i++)
        {
            peers[i] = fixture.Context.CreateSub(options());
            peers[i].Subscribe([]);
            peers[i].Subscribe([(byte)i, 0]); // Its own: when the publisher has it, it has heard all that this one said.
            peers[i].Connect(publisher.Bind(endpoints[i]));
        }

        await fixture.UntilAsync(() => publisher.TopicCount == 1 + endpoints.Length);
        return peers;
    }

    /// <summary>A message that was received within the process.</summary>
    private static async Task<Message> ReceiveOneAsync(ContextFixture fixture, Func<MessageBuilder, MessageBuilder> build)
    {
        PairSocket from = fixture.Context.CreatePair();
        PairSocket to = fixture.Context.CreatePair();
        from.Connect(to.Bind("inproc://source"));
        using var builder = new MessageBuilder(fixture.Pool);
        from.Send(build(builder));
        return await to.ReceiveAsync(Guard.Token).Guarded();
    }

    /// <summary>Bytes that tell where they lie in the message. What begins with 0 or 1 would be a topic of an XSUB.</summary>
    private static byte[] Bytes(int length)
    {
        byte[] bytes = Wire.Pattern(length);
        bytes[0] = (byte)'m';
        return bytes;
    }

    /// <summary>Memory on an array of its own, which counts how often it is let go of.</summary>
    private sealed class ArrayOwner(int length) : IMemoryOwner<byte>
    {
        private int _disposals;

        public byte[] Array { get; } = Bytes(length);

        public int Disposals => Volatile.Read(ref _disposals);

        public Memory<byte> Memory => Array;

        public void Dispose() => Interlocked.Increment(ref _disposals);
    }
}
