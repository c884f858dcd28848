using System.Buffers;
using System.Globalization;
using Net.Zlink.Buffers;
using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>Received messages and builders: what holds their memory, and what happens to those who use them afterwards.</summary>
public sealed class MessageTests
{
    private static readonly string[] Endpoints = ["tcp://127.0.0.1:0", "inproc://messages"];

    public static TheoryData<string> Transports => [.. Endpoints];

    [Theory]
    [MemberData(nameof(Transports))]
    public async Task A_disposed_message_throws_whatever_is_asked_of_it_and_a_second_Dispose_is_harmless(string endpoint)
    {
        await using var fixture = new ContextFixture();
        (PairSocket receiver, PairSocket sender) = Pair(fixture, endpoint);
        using var builder = new MessageBuilder();
        sender.Send(builder.Add("one"u8).Add([]).Add(new byte[20_000]));
        Message message = await receiver.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal([3, 0, 20_000], Enumerable.Range(0, message.PartCount).Select(i => message[i].Length));
        Assert.Throws<ArgumentOutOfRangeException>(() => message[3]);
        Assert.Throws<ArgumentOutOfRangeException>(() => message[-1]);
        Message same = message;
        message.Dispose();
        message.Dispose();
        same.Dispose();
        Assert.Equal(typeof(Message).FullName, Assert.Throws<ObjectDisposedException>(() => same.Memory).ObjectName);
        Assert.Throws<ObjectDisposedException>(() => same.Span.Length);
        Assert.Throws<ObjectDisposedException>(() => same[0]);
        Assert.Throws<ObjectDisposedException>(() => same.PartCount);
        Assert.Throws<ObjectDisposedException>(() => same.RoutingId);
        Assert.Throws<ObjectDisposedException>(() => same.RemoteAddress);
        Assert.Throws<ObjectDisposedException>(() => same.TryGetProperty("Peer-Address", out _));
        Assert.Throws<ObjectDisposedException>(() => same.ToArrays());
        Assert.Throws<ObjectDisposedException>(() => same.Copy());
        Assert.Throws<ObjectDisposedException>(() => sender.Send(same));
        Assert.Throws<ObjectDisposedException>(() => sender.TrySend(same));
    }

    [Fact]
    public async Task A_message_that_was_never_received_is_empty_and_cannot_be_sent()
    {
        await using var fixture = new ContextFixture();
        (_, PairSocket sender) = Pair(fixture, "inproc://empty");
        Message none = default;
        none.Dispose();
        Assert.Equal((0, 0, 0, ""), (none.PartCount, none.Span.Length, none.RoutingId.Length, none.RemoteAddress));
        Assert.False(none.TryGetProperty("Peer-Address", out _));
        Assert.Empty(none.ToArrays());
        Assert.Equal(0, none.Copy().PartCount);
        Assert.Throws<InvalidOperationException>(() => sender.Send(none));
    }

    [Theory]
    [MemberData(nameof(Transports))]
    public async Task A_copy_lives_on_its_own(string endpoint)
    {
        await using var fixture = new ContextFixture();
        (PairSocket receiver, PairSocket sender) = Pair(fixture, endpoint);
        sender.Send("payload"u8);
        Message message = await receiver.ReceiveAsync(Guard.Token).Guarded();
        Message copy = message.Copy();
        Message second = copy.Copy();
        message.Dispose();
        Assert.Equal("payload"u8, copy.Span);
        copy.Dispose();
        Assert.Equal("payload"u8, second.Span);
        Assert.Throws<ObjectDisposedException>(() => copy.Memory);
        second.Dispose();
    }

    [Theory]
    [InlineData(1, 1, 10)]
    [InlineData(64, 2, 10)]
    [InlineData(200, 3, 10)] // More parts than a lease has slots.
    [InlineData(10, 2, 30_000)] // More bytes than copies share.
    public async Task CopyMany_makes_copies_of_which_each_lives_on_its_own(int count, int parts, int length)
    {
        await using var fixture = new ContextFixture();
        (PairSocket receiver, PairSocket sender) = Pair(fixture, "tcp://127.0.0.1:0");
        var messages = new Message[count];
        using var builder = new MessageBuilder();
        for (int i = 0; i < count; i++)
        {
            for (int part = 0; part < parts; part++)
            {
                builder.AddSpace(length).Fill((byte)(i + part));
            }

            await sender.SendAsync(builder, Guard.Token).Guarded();
            messages[i] = await receiver.ReceiveAsync(Guard.Token).Guarded();
        }

        var copies = new Message[count];
        Message.CopyMany(messages, copies);
        var second = new Message[count];
        Message.CopyMany(copies, second);
        Array.ForEach(messages, static message => message.Dispose());
        for (int i = 0; i < count; i += 2)
        {
            copies[i].Dispose();
            copies[i].Dispose();
            Assert.Throws<ObjectDisposedException>(() => copies[i].Memory);
        }

        for (int i = 0; i < count; i++)
        {
            foreach (Message copy in (Message[])(i % 2 == 0 ? [second[i]] : [second[i], copies[i]]))
            {
                Assert.Equal(parts, copy.PartCount);
                Assert.All(Enumerable.Range(0, parts), part =>
                    Assert.True(copy[part].Length == length && !copy[part].Span.ContainsAnyExcept((byte)(i + part))));
                copy.Dispose();
            }
        }
    }

    [Fact]
    public async Task CopyMany_leaves_out_what_was_never_received_and_copies_nothing_behind_a_disposed_message()
    {
        await using var fixture = new ContextFixture();
        using var builder = new MessageBuilder(fixture.Context.Pool);
        using Message message = builder.Add("payload"u8).ToMessage();
        var copies = new Message[3];
        Assert.Throws<ArgumentOutOfRangeException>(() => Message.CopyMany([message, message], new Message[1]));
        Message.CopyMany([default, message, default], copies);
        Assert.Equal([0, 1, 0], copies.Select(static copy => copy.PartCount));
        Message disposed = copies[1];
        disposed.Dispose();
        Array.Clear(copies);
        Assert.Throws<ObjectDisposedException>(() => Message.CopyMany([message, disposed], copies));
        Assert.All(copies, static copy => Assert.Equal(0, copy.PartCount));
    }

    [Theory]
    [MemberData(nameof(Transports))]
    public async Task A_message_that_is_passed_on_arrives_whole_and_is_ended_only_if_it_was_accepted(string endpoint)
    {
        await using var fixture = new ContextFixture();
        (PairSocket receiver, PairSocket sender) = Pair(fixture, endpoint);
        PairSocket front = fixture.Context.CreatePair(new PairOptions { SendHighWaterMark = 1 });
        PairSocket back = fixture.Context.CreatePair(new PairOptions { ReceiveHighWaterMark = 1 });
        using var builder = new MessageBuilder();
        sender.Send(Numbered.Build(builder, 1, 1));
        Message message = await receiver.ReceiveAsync(Guard.Token).Guarded();
        Assert.False(front.TrySend(message)); // nobody to send to
        using (var cancelled = new CancellationTokenSource())
        {
            ValueTask waiting = front.SendAsync(message, cancelled.Token);
            cancelled.Cancel();
            await Assert.ThrowsAnyAsync<OperationCanceledException>(() => waiting.Guarded());
        }

        Assert.Equal((1, 1), Numbered.Check(message));
        front.Bind("inproc://on");
        back.Connect("inproc://on");
        await front.SendAsync(message, Guard.Token).Guarded();
        Assert.Throws<ObjectDisposedException>(() => message.Memory);
        using Message passed = await back.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal((1, 1), Numbered.Check(passed));
    }

    [Fact]
    public async Task Properties_name_the_peer_and_what_it_says_of_itself()
    {
        await using var fixture = new ContextFixture();
        RouterSocket receiver = fixture.Context.CreateRouter();
        using EventReader monitor = receiver.ReadEvents(SocketEventTypes.Accepted);
        DealerSocket sender = fixture.Context.CreateDealer(new DealerOptions { SendMetadata = true, RoutingId = "me"u8.ToArray() });
        sender.Connect(receiver.Bind("tcp://127.0.0.1:0"));
        sender.Send("x"u8);
        using Message message = await receiver.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal("me"u8, message.RoutingId.Span);
        Assert.True(message.TryGetProperty("Socket-Type", out string? type));
        Assert.True(message.TryGetProperty("Identity", out string? identity));
        Assert.True(message.TryGetProperty("Peer-Address", out string? address));
        Assert.True(message.TryGetProperty("__fd", out string? descriptor));
        Assert.Equal(("DEALER", "me", "127.0.0.1"), (type, identity, address));
        Assert.Equal((await monitor.NextAsync(SocketEventTypes.Accepted)).Value.ToString(CultureInfo.InvariantCulture), descriptor);
        Assert.False(message.TryGetProperty("socket-type", out _));
        Assert.Throws<ArgumentNullException>(() => message.TryGetProperty(null!, out _));
        Assert.StartsWith("tcp://127.0.0.1:", message.RemoteAddress, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Over_ipc_the_peers_address_is_its_process_in_both_directions()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "NOT TESTED HERE: only Linux tells the process of a peer");
        await using var fixture = new ContextFixture();
        DealerSocket receiver = fixture.Context.CreateDealer();
        DealerSocket sender = fixture.Context.CreateDealer();
        sender.Connect(receiver.Bind("ipc://*"));
        sender.Send("there"u8);
        using Message there = await receiver.ReceiveAsync(Guard.Token).Guarded();
        receiver.Send("back"u8);
        using Message back = await sender.ReceiveAsync(Guard.Token).Guarded();
        Assert.True(there.TryGetProperty("Peer-Address", out string? connecter));
        Assert.True(back.TryGetProperty("Peer-Address", out string? listener));
        Assert.Equal((connecter, true), (listener, connecter.StartsWith("localhost:", StringComparison.Ordinal)));
        Assert.EndsWith(string.Create(CultureInfo.InvariantCulture, $":{Environment.ProcessId}"), connecter, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_builder_is_empty_after_it_was_sent_full_after_a_refusal_and_useless_after_its_disposal()
    {
        await using var fixture = new ContextFixture();
        PairSocket lonely = fixture.Context.CreatePair();
        (PairSocket receiver, PairSocket sender) = Pair(fixture, "inproc://builder");
        var builder = new MessageBuilder(fixture.Pool);
        Assert.Throws<ArgumentException>(() => sender.Send(builder));
        Assert.Throws<ArgumentNullException>(() => builder.Add(null!, 0));
        Assert.Throws<ArgumentOutOfRangeException>(() => builder.AddSpace(-1));
        builder.Add("a"u8);
        "bc"u8.CopyTo(builder.AddSpace(2));
        Assert.False(lonely.TrySend(builder));
        Assert.Equal(2, builder.Count);
        sender.Send(builder);
        Assert.Equal(0, builder.Count);
        sender.Send(builder.Add("d"u8));
        using (Message first = await receiver.ReceiveAsync(Guard.Token).Guarded())
        {
            Assert.Equal(["a"u8.ToArray(), "bc"u8.ToArray()], first.ToArrays());
        }

        using (Message second = await receiver.ReceiveAsync(Guard.Token).Guarded())
        {
            Assert.Equal(["d"u8.ToArray()], second.ToArrays());
        }

        builder.Add("e"u8).Clear();
        Assert.Equal(0, builder.Count);
        builder.Dispose();
        builder.Dispose();
        Assert.Throws<ObjectDisposedException>(() => builder.Add("f"u8));
        Assert.Throws<ObjectDisposedException>(() => builder.AddSpace(1));
        using IMemoryOwner<byte> memory = fixture.Pool.Rent(1);
        Assert.Throws<ObjectDisposedException>(() => builder.Add(memory, 1));
        Assert.Throws<ObjectDisposedException>(() => sender.Send(builder));
        Assert.Throws<ObjectDisposedException>(() => sender.TrySend(builder));
        await Assert.ThrowsAsync<ObjectDisposedException>(() => sender.SendAsync(builder, Guard.Token).AsTask());
    }

    [Fact]
    public async Task A_part_that_was_to_come_before_a_disposed_message_or_before_none_is_given_back()
    {
        await using var fixture = new ContextFixture();
        (PairSocket receiver, PairSocket sender) = Pair(fixture, "inproc://front");
        sender.Send("x"u8);
        Message message = await receiver.ReceiveAsync(Guard.Token).Guarded();
        message.Dispose();
        var slabs = new Slab.SlabCache(fixture.Pool);
        Assert.Throws<ObjectDisposedException>(() => message.With(slabs.Rent(1), 1, skip: 0));
        Assert.Equal(0, default(Message).With(slabs.Rent(1), 1, skip: 0).PartCount);
        Assert.Equal(0, slabs.OutstandingBytes);
    }

    [Theory]
    [InlineData(100)]
    [InlineData(100_000)]
    public async Task Memory_that_was_handed_over_is_let_go_once_when_it_was_sent_cleared_or_disposed(int size)
    {
        await using var fixture = new ContextFixture();
        (PairSocket receiver, PairSocket sender) = Pair(fixture, "tcp://127.0.0.1:0");
        var builder = new MessageBuilder(fixture.Pool);
        var sent = new CountingMemory(size);
        var cleared = new CountingMemory(size);
        var disposed = new CountingMemory(size);
        Assert.Throws<ArgumentOutOfRangeException>(() => builder.Add(sent, size + 1));
        sender.Send(builder.Add("first"u8).Add(sent, size));
        using (Message message = await receiver.ReceiveAsync(Guard.Token).Guarded())
        {
            Assert.Equal(sent.Memory.Span, message[1].Span);
        }

        await fixture.UntilAsync(() => sent.Disposals > 0);
        builder.Add(cleared, size).Clear();
        builder.Add(disposed, size).Dispose();
        Assert.Equal((1, 1, 1), (sent.Disposals, cleared.Disposals, disposed.Disposals));
    }

    private static (PairSocket Receiver, PairSocket Sender) Pair(ContextFixture fixture, string endpoint)
    {
        PairSocket receiver = fixture.Context.CreatePair();
        PairSocket sender = fixture.Context.CreatePair();
        sender.Connect(receiver.Bind(endpoint));
        return (receiver, sender);
    }

    private sealed class CountingMemory(int size) : IMemoryOwner<byte>
    {
        private int _disposals;

        public int Disposals => Volatile.Read(ref _disposals);

        public Memory<byte> Memory { get; } = Wire.Pattern(size);

        public void Dispose() => Interlocked.Increment(ref _disposals);
    }
}
