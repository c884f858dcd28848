using System.Buffers.Binary;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Stream;

/// <summary>Payloads that are sent many at a time, and batches that wait for room: in order, as many as there is room for or all of them,
/// and whatever ends it, how many were accepted is told.</summary>
public sealed class SendManyPayloadsTests
{
    // The first is the huge one that the silent peer is stuck with.
    private const int Mark = 4;

    private const int Room = Mark - 1;
    private const int Batch = 20;

    // On both sides of what is copied and what goes by reference (16 KiB).
    private const int Short = 100;
    private const int Long = 20_000;

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task As_many_payloads_are_accepted_as_there_is_room_for(bool byPeer)
    {
        await using var fixture = new StreamFixture();
        (StreamSocket socket, RawPeer slow, uint id) = await ConnectSlowAsync(fixture);
        ReadOnlyMemory<byte>[] payloads = Numbers(Batch);
        Assert.Equal(Room, SendMany(payloads));
        Assert.Equal(SendFailure.Full, socket.To(id).TrySend(payloads[0].Span).Reason);
        Assert.Equal(0, SendMany(payloads));
        Assert.Equal(0, SendMany([]));
        await AssertReadAsync(slow, 0, Room);
        await fixture.UntilAsync(() => socket.GetStatistics().WrittenMessages == Mark);
        Assert.Equal(2, SendMany(payloads.AsSpan(Room, 2)));
        await AssertReadAsync(slow, Room, 2, isStuck: false);

        int SendMany(ReadOnlySpan<ReadOnlyMemory<byte>> some) => byPeer
            ? PeerOf(socket, id).SendMany(some) : socket.To(id).SendMany(some);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task All_payloads_are_accepted_in_order_once_the_peer_reads(bool byPeer)
    {
        await using var fixture = new StreamFixture();
        (StreamSocket socket, RawPeer slow, uint id) = await ConnectSlowAsync(fixture);
        ReadOnlyMemory<byte>[] payloads = Numbers(Batch);
        Task<int> sending = byPeer ? PeerOf(socket, id).SendManyAsync(payloads, Guard.Token).AsTask()
            : socket.To(id).SendManyAsync(payloads, Guard.Token).AsTask();
        Assert.False(sending.IsCompleted);
        await AssertReadAsync(slow, 0, Batch);
        Assert.Equal(Batch, await sending.Guarded());
        Assert.Equal(0, await socket.To(id).SendManyAsync(ReadOnlyMemory<ReadOnlyMemory<byte>>.Empty, Guard.Token).Guarded());
    }

    [Theory]
    [InlineData(Short)]
    [InlineData(Long)]
    public async Task All_messages_are_passed_on_in_order_and_end_once_the_peer_reads(int size)
    {
        await using var fixture = new StreamFixture();
        (StreamSocket socket, RawPeer slow, uint id) = await ConnectSlowAsync(fixture);
        StreamMessage[] messages = await ReceiveNumbersAsync(fixture, socket, Batch, size);
        Task<int> sending = socket.SendManyAsync(id, messages, Guard.Token).AsTask();
        Assert.False(sending.IsCompleted);
        await AssertReadAsync(slow, 0, Batch, size);
        Assert.Equal(Batch, await sending.Guarded());
        Assert.All(messages, static message => Assert.Throws<ObjectDisposedException>(() => message.Payload));
    }

    [Fact]
    public async Task A_cancelled_batch_tells_how_many_were_accepted_and_nothing_more_is_sent()
    {
        await using var fixture = new StreamFixture();
        (StreamSocket socket, RawPeer slow, uint id) = await ConnectSlowAsync(fixture);
        using var cancel = CancellationTokenSource.CreateLinkedTokenSource(Guard.Token);
        StreamMessage[] messages = await ReceiveNumbersAsync(fixture, socket, Batch, Short);
        Task<int> sending = socket.SendManyAsync(id, messages, cancel.Token).AsTask();
        Assert.False(sending.IsCompleted);
        await cancel.CancelAsync();
        Assert.Equal(Room, await sending.Guarded());
        Assert.All(messages[..Room], static message => Assert.Throws<ObjectDisposedException>(() => message.Payload));
        Assert.All(messages[Room..], static message => Assert.Equal(Short, message.Payload.Length));

        // With nothing accepted there is nothing to tell but the cancellation: before a wait, and in it.
        await Assert.ThrowsAsync<OperationCanceledException>(
            () => socket.SendManyAsync(id, messages.AsMemory(Room), cancel.Token).AsTask());
        await Assert.ThrowsAsync<OperationCanceledException>(() => socket.To(id).SendManyAsync(Numbers(1), cancel.Token).AsTask());
        using var again = CancellationTokenSource.CreateLinkedTokenSource(Guard.Token);
        sending = socket.SendManyAsync(id, messages.AsMemory(Room), again.Token).AsTask();
        Task<int> payloads = socket.To(id).SendManyAsync(Numbers(Batch), again.Token).AsTask();
        await again.CancelAsync();
        await Assert.ThrowsAsync<OperationCanceledException>(() => sending.Guarded());
        await Assert.ThrowsAsync<OperationCanceledException>(() => payloads.Guarded());
        sending = socket.SendManyAsync(id, messages.AsMemory(Room), Guard.Token).AsTask();
        await AssertReadAsync(slow, 0, Batch, Short); // None is missing, none came twice.
        Assert.Equal(Batch - Room, await sending.Guarded());
    }

    [Theory]
    [InlineData("disconnected")]
    [InlineData("lost")]
    [InlineData("disposed")]
    public async Task A_peer_that_goes_under_a_batch_lets_it_tell_how_many_were_accepted_and_the_next_call_says_why(string end)
    {
        await using var fixture = new StreamFixture();
        (StreamSocket socket, RawPeer slow, uint id) = await ConnectSlowAsync(fixture);
        StreamPeer peer = PeerOf(socket, id);
        Task<int> sending = socket.To(id).SendManyAsync(Numbers(Batch), Guard.Token).AsTask();
        Assert.False(sending.IsCompleted);
        switch (end)
        {
            case "disconnected":
                peer.Disconnect();
                break;
            case "lost":
                slow.Reset();
                break;
            default:
                socket.Dispose();
                break;
        }

        Assert.Equal(Room, await sending.Guarded());
        await AssertUnreachableAsync(async () => await socket.To(id).SendManyAsync(Numbers(1), Guard.Token));
        await AssertUnreachableAsync(async () => await peer.SendManyAsync(Numbers(1), Guard.Token));
        Assert.Equal(0, socket.To(id).SendMany(Numbers(1)));
        Assert.Equal(SendFailure.NoPeer, socket.To(id).TrySend("x"u8).Reason);
        Assert.Equal(0, peer.SendMany(Numbers(1)));
        Assert.Equal(SendFailure.NoPeer, peer.TrySend("x"u8).Reason);
    }

    [Fact]
    public async Task A_message_that_is_disposed_while_its_batch_waits_is_not_sent()
    {
        await using var fixture = new StreamFixture();
        (StreamSocket socket, RawPeer slow, uint id) = await ConnectSlowAsync(fixture);
        StreamMessage[] messages = await ReceiveNumbersAsync(fixture, socket, Batch, Short);
        Task<int> sending = socket.SendManyAsync(id, messages, Guard.Token).AsTask();
        Assert.False(sending.IsCompleted);
        messages[Room].Dispose();
        await AssertReadAsync(slow, 0, Room, Short);
        await Assert.ThrowsAsync<ObjectDisposedException>(() => sending.Guarded());
        Assert.Equal(Batch - Room - 1, await socket.SendManyAsync(id, messages.AsMemory(Room + 1), Guard.Token).Guarded());
        await AssertReadAsync(slow, Room + 1, Batch - Room - 1, Short, isStuck: false);
    }

    [Fact]
    public async Task Nothing_is_sent_where_there_is_no_such_peer_or_it_is_a_pipe_or_a_message_is_an_event()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint);
        var hold = new TaskCompletionSource();
        uint pipe = await fixture.ConnectPipeAsync(socket, hold.Task);
        await fixture.ConnectAsync(endpoint);
        StreamMessage connected = await socket.NextAsync();
        await AssertUnreachableAsync(async () => await socket.To(77).SendManyAsync(Numbers(1), Guard.Token));
        await AssertUnreachableAsync(async () => await socket.SendManyAsync(77, new[] { connected }, Guard.Token));
        ZlinkException unfit = await Assert.ThrowsAsync<ZlinkException>(
            async () => await socket.To(pipe).SendManyAsync(Numbers(1), Guard.Token));
        Assert.Equal(ZlinkError.NotSupported, unfit.Error);
        unfit = await Assert.ThrowsAsync<ZlinkException>(async () => await socket.SendManyAsync(pipe, new[] { connected }, Guard.Token));
        Assert.Equal(ZlinkError.NotSupported, unfit.Error);
        Assert.Equal(0, socket.To(pipe).SendMany(Numbers(1)));
        Assert.Equal(SendFailure.IsPipe, socket.To(pipe).TrySend("x"u8).Reason);
        await Assert.ThrowsAsync<ArgumentException>(
            async () => await socket.SendManyAsync(connected.PeerId, new[] { connected }, Guard.Token));
        hold.SetResult();
    }

    [Fact]
    public async Task Batches_of_several_threads_do_not_mix_up_the_order_of_any_of_them()
    {
        const int Threads = 4;
        const int Batches = 100;
        await using var fixture = new StreamFixture();
        StreamSocket server = fixture.Bind(out string endpoint);
        StreamSocket client = fixture.Context.CreateStream(new StreamOptions { SendHighWaterMark = 50 });
        uint id = await client.ConnectAsync(endpoint, Guard.Token).Guarded();
        await server.NextConnectedAsync();
        Task[] sending = [.. Enumerable.Range(0, Threads).Select(thread => Task.Run(
            async () =>
            {
                for (int batch = 0; batch < Batches; batch++)
                {
                    Assert.Equal(Batch, await client.To(id).SendManyAsync(Numbers(Batch, (thread << 24) + (batch * Batch)), Guard.Token));
                }
            },
            Guard.Token))];
        int[] next = new int[Threads];
        var messages = new StreamMessage[16];
        for (int received = 0; received < Threads * Batches * Batch;)
        {
            int count = await server.ReceiveManyAsync(messages, Guard.Token).Guarded();
            foreach (StreamMessage message in messages.AsSpan(0, count))
            {
                int number = BinaryPrimitives.ReadInt32LittleEndian(message.Span);
                Assert.Equal(next[number >> 24]++, number & 0xFFFFFF);
                message.Dispose();
            }

            received += count;
        }

        await Task.WhenAll(sending).Guarded();
    }

    /// <summary>A peer that has stopped reading in the middle of a huge message.</summary>
    private static async Task<(StreamSocket Socket, RawPeer Slow, uint Id)> ConnectSlowAsync(StreamFixture fixture)
    {
        StreamSocket socket = fixture.Bind(out string endpoint,
            new StreamOptions { SendHighWaterMark = Mark, SendBufferSize = 16 * 1024, Linger = TimeSpan.Zero });
        RawPeer slow = await fixture.ConnectAsync(endpoint, receiveBuffer: 16 * 1024);
        uint id = await socket.NextConnectedAsync();
        socket.To(id).Send(Wire.Huge);
        return (socket, slow, id);
    }

    private static StreamPeer PeerOf(StreamSocket socket, uint id) => socket.TryGetPeer(id, out StreamPeer? peer) ? peer
        : throw new InvalidOperationException("The peer is gone.");

    private static ReadOnlyMemory<byte>[] Numbers(int count, int first = 0, int size = sizeof(int)) =>
        [.. Enumerable.Range(first, count).Select(number => (ReadOnlyMemory<byte>)Number(number, size))];

    private static byte[] Number(int number, int size)
    {
        byte[] payload = Wire.Pattern(size, number);
        BinaryPrimitives.WriteInt32LittleEndian(payload, number);
        return payload;
    }

    /// <summary>The same as messages that another peer has sent.</summary>
    private static async Task<StreamMessage[]> ReceiveNumbersAsync(StreamFixture fixture, StreamSocket socket, int count, int size)
    {
        RawPeer source = await fixture.ConnectAsync(socket.LastEndpoint);
        await socket.NextConnectedAsync();
        Task sending = source.SendAsync(Wire.Frames(Numbers(count, size: size).Select(static payload => payload.ToArray())));
        var messages = new StreamMessage[count];
        for (int received = 0; received < count;)
        {
            received += await socket.ReceiveManyAsync(messages.AsMemory(received), Guard.Token).Guarded();
        }

        await sending;
        return messages;
    }

    private static async Task AssertReadAsync(RawPeer slow, int first, int count, int size = sizeof(int), bool isStuck = true)
    {
        if (isStuck)
        {
            Wire.AssertSame(Wire.Huge, (await slow.ReadFrameAsync())!);
        }

        for (int i = 0; i < count; i++)
        {
            Wire.AssertSame(Number(first + i, size), (await slow.ReadFrameAsync())!);
        }
    }

    private static async Task AssertUnreachableAsync(Func<Task> send)
    {
        ZlinkException gone = await Assert.ThrowsAsync<ZlinkException>(send);
        Assert.Equal(ZlinkError.HostUnreachable, gone.Error);
    }
}
