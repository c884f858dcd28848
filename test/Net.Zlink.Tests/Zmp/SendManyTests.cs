using System.Buffers.Binary;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>Messages that are sent many at a time: in order, as many as there is room for or all of them, and whatever ends it, how many
/// were accepted is told.</summary>
public sealed class SendManyTests
{
    // Of each side: so a socket that nobody reads takes twice as many over inproc.
    private const int Mark = 3;

    private const int Batch = 20;

    /// <summary>Those that wait for room. XSUB never does: see below.</summary>
    public static TheoryData<string> Types => ["PAIR", "DEALER", "ROUTER", "PUB", "XPUB"];

    [Theory]
    [MemberData(nameof(Types))]
    public async Task As_many_payloads_are_accepted_as_there_is_room_for(string type)
    {
        await using var fixture = new ContextFixture();
        await using BatchPair pair = await BatchPair.CreateAsync(fixture.Context, type, Mark);
        ReadOnlyMemory<byte>[] payloads = Numbers(Batch);
        int sent = pair.SendPayloads(payloads);
        Assert.Equal(2 * Mark, sent);
        await AssertReceivedAsync(pair.Receiver, 0, sent);
        Assert.Equal(2 * Mark, pair.SendPayloads(payloads.AsMemory(sent)));
        await AssertReceivedAsync(pair.Receiver, sent, 2 * Mark);
        Assert.Equal(0, pair.SendPayloads(ReadOnlyMemory<ReadOnlyMemory<byte>>.Empty));
        Assert.False(pair.Receiver.TryReceive(out _));
    }

    [Theory]
    [MemberData(nameof(Types))]
    public async Task Messages_that_are_passed_on_end_as_far_as_they_were_accepted(string type)
    {
        await using var fixture = new ContextFixture();
        await using BatchPair pair = await BatchPair.CreateAsync(fixture.Context, type, Mark);
        Message[] messages = await ReceiveNumbersAsync(fixture, Batch);
        int sent = pair.SendMessages(messages);
        Assert.Equal(2 * Mark, sent);
        Assert.All(messages[..sent], static message => Assert.Throws<ObjectDisposedException>(() => message.PartCount));
        Assert.All(messages[sent..], static message => Assert.Equal(1, message.PartCount));
        await AssertReceivedAsync(pair.Receiver, 0, sent);
        Array.ForEach(messages, static message => message.Dispose());
        Assert.False(pair.Receiver.TryReceive(out _));
    }

    [Theory]
    [MemberData(nameof(Types))]
    public async Task All_payloads_are_accepted_in_order_once_the_reader_has_made_room(string type)
    {
        await using var fixture = new ContextFixture();
        await using BatchPair pair = await BatchPair.CreateAsync(fixture.Context, type, Mark);
        Task<int> sending = pair.SendPayloadsAsync(Numbers(Batch), Guard.Token).AsTask();
        Assert.False(sending.IsCompleted);
        await AssertReceivedAsync(pair.Receiver, 0, Batch);
        Assert.Equal(Batch, await sending.Guarded());
    }

    [Theory]
    [MemberData(nameof(Types))]
    public async Task All_messages_are_passed_on_in_order_once_the_reader_has_made_room(string type)
    {
        await using var fixture = new ContextFixture();
        await using BatchPair pair = await BatchPair.CreateAsync(fixture.Context, type, Mark);
        Message[] messages = await ReceiveNumbersAsync(fixture, Batch);
        Task<int> sending = pair.SendMessagesAsync(messages, Guard.Token).AsTask();
        Assert.False(sending.IsCompleted);
        await AssertReceivedAsync(pair.Receiver, 0, Batch);
        Assert.Equal(Batch, await sending.Guarded());
        Assert.All(messages, static message => Assert.Throws<ObjectDisposedException>(() => message.PartCount));
    }

    [Theory]
    [MemberData(nameof(Types))]
    public async Task A_cancelled_batch_tells_how_many_were_accepted_and_nothing_more_is_sent(string type)
    {
        await using var fixture = new ContextFixture();
        await using BatchPair pair = await BatchPair.CreateAsync(fixture.Context, type, Mark);
        using var cancel = CancellationTokenSource.CreateLinkedTokenSource(Guard.Token);
        ReadOnlyMemory<byte>[] payloads = Numbers(Batch);
        Task<int> sending = pair.SendPayloadsAsync(payloads, cancel.Token).AsTask();
        Assert.False(sending.IsCompleted);
        await cancel.CancelAsync();
        int sent = await sending.Guarded();
        Assert.Equal(2 * Mark, sent);

        // With nothing accepted there is nothing to tell but the cancellation: before a wait, and in it.
        await Assert.ThrowsAsync<OperationCanceledException>(() => pair.SendPayloadsAsync(payloads.AsMemory(sent), cancel.Token).AsTask());
        using var again = CancellationTokenSource.CreateLinkedTokenSource(Guard.Token);
        sending = pair.SendPayloadsAsync(payloads.AsMemory(sent), again.Token).AsTask();
        await again.CancelAsync();
        await Assert.ThrowsAsync<OperationCanceledException>(() => sending.Guarded());
        await AssertReceivedAsync(pair.Receiver, 0, sent);
        Assert.Equal(1, await pair.SendPayloadsAsync(Numbers(1), Guard.Token).Guarded());
        await AssertReceivedAsync(pair.Receiver, 0, 1); // Not number 6: that was never sent.
    }

    [Fact]
    public async Task A_cancelled_batch_of_messages_leaves_the_rest_to_the_caller()
    {
        await using var fixture = new ContextFixture();
        await using BatchPair pair = await BatchPair.CreateAsync(fixture.Context, "PAIR", Mark);
        using var cancel = CancellationTokenSource.CreateLinkedTokenSource(Guard.Token);
        Message[] messages = await ReceiveNumbersAsync(fixture, Batch);
        Task<int> sending = pair.SendMessagesAsync(messages, cancel.Token).AsTask();
        await cancel.CancelAsync();
        int sent = await sending.Guarded();
        Assert.Equal(2 * Mark, sent);
        Assert.All(messages[sent..], static message => Assert.Equal(1, message.PartCount));
        await AssertReceivedAsync(pair.Receiver, 0, sent);
        Assert.Equal(Batch - sent, await SendRestAsync());
        Assert.All(messages, static message => Assert.Throws<ObjectDisposedException>(() => message.PartCount));

        async Task<int> SendRestAsync()
        {
            Task<int> rest = pair.SendMessagesAsync(messages.AsMemory(sent), Guard.Token).AsTask();
            await AssertReceivedAsync(pair.Receiver, sent, Batch - sent);
            return await rest.Guarded();
        }
    }

    [Fact]
    public async Task A_context_that_ends_under_a_batch_lets_it_tell_how_many_were_accepted_and_the_next_call_throws()
    {
        await using var fixture = new ContextFixture();
        await using BatchPair pair = await BatchPair.CreateAsync(fixture.Context, "PAIR", Mark);
        Task<int> sending = pair.SendPayloadsAsync(Numbers(Batch), Guard.Token).AsTask();
        Assert.False(sending.IsCompleted);
        Task ending = fixture.Context.DisposeAsync().AsTask();
        Assert.Equal(2 * Mark, await sending.Guarded());
        Exception ended = await Assert.ThrowsAnyAsync<Exception>(() => pair.SendPayloadsAsync(Numbers(1), Guard.Token).AsTask());
        Assert.True(ended is ZlinkException { Error: ZlinkError.ContextTerminated } or ObjectDisposedException, ended.ToString());
        Assert.ThrowsAny<Exception>(() => pair.SendPayloads(Numbers(1)));
        await ending.Guarded();
    }

    [Fact]
    public async Task A_mandatory_ROUTER_says_why_a_batch_was_cut_short()
    {
        await using var fixture = new ContextFixture();
        RouterSocket router = fixture.Context.CreateRouter(new RouterOptions { Mandatory = true, SendHighWaterMark = Mark });
        DealerSocket dealer = fixture.Context.CreateDealer(
            new DealerOptions { RoutingId = "peer"u8.ToArray(), ReceiveHighWaterMark = Mark });
        router.Bind("inproc://cut-short");
        dealer.Connect("inproc://cut-short");
        Assert.Equal(2, router.To("peer"u8).SendMany(Numbers(2)));
        Assert.Equal((2 * Mark) - 2, router.To("peer"u8).SendMany(Numbers(Batch)));
        Assert.Equal(SendFailure.Full, router.To("peer"u8).TrySend("x"u8).Reason);
        Assert.Equal(0, router.To("nobody"u8).SendMany(Numbers(Batch)));
        Assert.Equal(SendFailure.NoPeer, router.To("nobody"u8).TrySend("x"u8).Reason);
        using Message received = dealer.Receive();
        Assert.Equal(0, router.To("nobody"u8).SendMany([received]));
        Assert.Equal(1, received.PartCount);
        await AssertReceivedAsync(dealer, 1, 1);
        await AssertReceivedAsync(dealer, 0, (2 * Mark) - 2);

        // The peer leaves while the rest of a batch waits for it.
        Task<int> sending = router.To("peer"u8.ToArray()).SendManyAsync(Numbers(Batch), Guard.Token).AsTask();
        Assert.False(sending.IsCompleted);
        dealer.Dispose();
        Assert.Equal(2 * Mark, await sending.Guarded());
        ZlinkException gone = await Assert.ThrowsAsync<ZlinkException>(
            () => router.To("peer"u8.ToArray()).SendManyAsync(Numbers(Batch), Guard.Token).AsTask());
        Assert.Equal(ZlinkError.HostUnreachable, gone.Error);
    }

    [Fact]
    public async Task A_ROUTER_sends_batches_over_a_wire_in_order_with_long_payloads_among_short_ones()
    {
        await using var fixture = new ContextFixture();
        RouterSocket router = fixture.Context.CreateRouter(new RouterOptions { Mandatory = true, SendHighWaterMark = 500 });
        DealerSocket dealer = fixture.Context.CreateDealer(new DealerOptions { RoutingId = "peer"u8.ToArray() });
        dealer.Connect(router.Bind("tcp://127.0.0.1:*"));
        await fixture.UntilAsync(() => router.CanSendTo(RoutingId.FromText("peer")));
        ReadOnlyMemory<byte>[] payloads = Numbers(3_000);
        for (int i = 0; i < payloads.Length; i += 7)
        {
            byte[] longer = new byte[sizeof(int) + (i * 20)];
            payloads[i].Span.CopyTo(longer);
            payloads[i] = longer;
        }

        Task<int> sending = router.To("peer"u8.ToArray()).SendManyAsync(payloads, Guard.Token).AsTask();
        for (int i = 0; i < payloads.Length; i++)
        {
            using Message message = await dealer.ReceiveAsync(Guard.Token).Guarded();
            Assert.Equal(i, BinaryPrimitives.ReadInt32LittleEndian(message.Span));
            Assert.Equal(payloads[i].Length, message.Span.Length);
        }

        Assert.Equal(payloads.Length, await sending.Guarded());
    }

    [Fact]
    public async Task An_XSUB_sends_a_batch_without_waiting_as_it_sends_everything()
    {
        await using var fixture = new ContextFixture();
        await using BatchPair pair = await BatchPair.CreateAsync(fixture.Context, "XSUB", Mark);
        ReadOnlyMemory<byte>[] payloads = Numbers(Batch, first: 2); // 0 and 1 would be topics.
        Assert.Equal(Batch, await pair.SendPayloadsAsync(payloads, Guard.Token));
        await AssertReceivedAsync(pair.Receiver, 2, 2 * Mark);
        Assert.False(pair.Receiver.TryReceive(out _));
        Assert.Equal(2, pair.SendPayloads(payloads.AsMemory(0, 2)));
        await AssertReceivedAsync(pair.Receiver, 2, 2);
    }

    [Fact]
    public async Task A_message_that_was_disposed_ends_the_batch_behind_those_before_it()
    {
        await using var fixture = new ContextFixture();
        await using BatchPair pair = await BatchPair.CreateAsync(fixture.Context, "DEALER", highWaterMark: 0);
        Message[] messages = await ReceiveNumbersAsync(fixture, 4);
        messages[2].Dispose();
        Assert.Throws<ObjectDisposedException>(() => pair.SendMessages(messages));
        await AssertReceivedAsync(pair.Receiver, 0, 2);
        Assert.Equal(1, messages[3].PartCount);
        await Assert.ThrowsAsync<ObjectDisposedException>(() => pair.SendMessagesAsync(messages.AsMemory(2), Guard.Token).AsTask());
        Assert.Equal(1, pair.SendMessages(messages.AsMemory(3)));
        Array.Resize(ref messages, 5);
        InvalidOperationException nothing = Assert.Throws<InvalidOperationException>(() => pair.SendMessages(messages.AsMemory(4)));
        Assert.Contains("messages[0] holds no message", nothing.Message, StringComparison.Ordinal);
        nothing = await Assert.ThrowsAsync<InvalidOperationException>(
            () => pair.SendMessagesAsync(messages.AsMemory(4), Guard.Token).AsTask());
        Assert.Contains("the 0 before it were sent", nothing.Message, StringComparison.Ordinal);
        await AssertReceivedAsync(pair.Receiver, 3, 1);
    }

    [Fact]
    public async Task Batches_of_several_threads_do_not_mix_up_the_order_of_any_of_them()
    {
        const int Threads = 4;
        const int Batches = 200;
        await using var fixture = new ContextFixture();
        await using BatchPair pair = await BatchPair.CreateAsync(fixture.Context, "PAIR", highWaterMark: 50);
        Task[] sending = [.. Enumerable.Range(0, Threads).Select(thread => Task.Run(
            async () =>
            {
                for (int batch = 0; batch < Batches; batch++)
                {
                    ReadOnlyMemory<byte>[] payloads = Numbers(Batch, (thread << 24) + (batch * Batch));
                    Assert.Equal(Batch, await pair.SendPayloadsAsync(payloads, Guard.Token));
                }
            },
            Guard.Token))];
        int[] next = new int[Threads];
        var messages = new Message[16];
        for (int received = 0; received < Threads * Batches * Batch;)
        {
            int count = await pair.Receiver.ReceiveManyAsync(messages, Guard.Token).Guarded();
            foreach (Message message in messages.AsSpan(0, count))
            {
                int number = BinaryPrimitives.ReadInt32LittleEndian(message.Span);
                Assert.Equal(next[number >> 24]++, number & 0xFFFFFF);
                message.Dispose();
            }

            received += count;
        }

        await Task.WhenAll(sending).Guarded();
    }

    private static ReadOnlyMemory<byte>[] Numbers(int count, int first = 0)
    {
        var payloads = new ReadOnlyMemory<byte>[count];
        for (int i = 0; i < count; i++)
        {
            byte[] number = new byte[sizeof(int)];
            BinaryPrimitives.WriteInt32LittleEndian(number, first + i);
            payloads[i] = number;
        }

        return payloads;
    }

    /// <summary>The same as received messages.</summary>
    private static async Task<Message[]> ReceiveNumbersAsync(ContextFixture fixture, int count)
    {
        PairSocket from = fixture.Context.CreatePair();
        PairSocket to = fixture.Context.CreatePair();
        to.Connect(from.Bind("inproc://numbers"));
        Assert.Equal(count, from.SendMany(Numbers(count)));
        var messages = new Message[count];
        for (int received = 0; received < count;)
        {
            received += await to.ReceiveManyAsync(messages.AsMemory(received), Guard.Token).Guarded();
        }

        return messages;
    }

    private static async Task AssertReceivedAsync(ReceivingSocket receiver, int first, int count)
    {
        for (int i = 0; i < count; i++)
        {
            using Message message = await receiver.ReceiveAsync(Guard.Token).Guarded();
            Assert.Equal(first + i, BinaryPrimitives.ReadInt32LittleEndian(message.Span));
        }
    }
}
