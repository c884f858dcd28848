using System.Buffers;
using System.Text;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests;

public class GatewaySendTests
{
    private static byte[] Lookalike
    {
        get
        {
            byte[] bytes = new byte[RequestEnvelope.HeaderSize];
            new RequestEnvelope { Kind = EnvelopeKind.Reply, Id = 3 }.Write(bytes);
            return bytes;
        }
    }

    [Fact]
    public async Task Messages_of_every_form_arrive_as_the_parts_of_the_application_and_nothing_else()
    {
        await using var scene = new GatewayScene();
        (RouterSocket socket, _) = await scene.AddRawAsync("one");
        using var parts = new MessageBuilder();

        Assert.True(scene.Client.TrySend("span"u8));
        Assert.True(scene.Client.TrySend(parts.Add("a").Add("").Add("b")));
        scene.Client.Send("blocking"u8);
        await scene.Client.SendAsync("memory"u8.ToArray(), Guard.Token);
        await scene.Client.SendAsync(parts.Add("c"), Guard.Token);
        IMemoryOwner<byte> owner = scene.Fixture.Pool.Rent(20_000);
        owner.Memory.Span[..20_000].Fill((byte)'x');
        await scene.Client.SendAsync(owner, 20_000, Guard.Token);
        Assert.True(scene.Client.To(RoutingId.FromText("one")).TrySend("to"u8));
        await scene.Client.To(RoutingId.FromText("one")).SendAsync("to async"u8.ToArray(), Guard.Token);

        Assert.Equal("span", await GatewayScene.ReceiveTextAsync(socket));
        Assert.Equal("a||b", await GatewayScene.ReceiveTextAsync(socket));
        Assert.Equal("blocking", await GatewayScene.ReceiveTextAsync(socket));
        Assert.Equal("memory", await GatewayScene.ReceiveTextAsync(socket));
        Assert.Equal("c", await GatewayScene.ReceiveTextAsync(socket));
        Assert.Equal(new string('x', 20_000), await GatewayScene.ReceiveTextAsync(socket));
        Assert.Equal("to", await GatewayScene.ReceiveTextAsync(socket));
        Assert.Equal("to async", await GatewayScene.ReceiveTextAsync(socket));
    }

    [Fact]
    public async Task Received_messages_are_passed_on_and_ended()
    {
        await using var scene = new GatewayScene();
        (RouterSocket socket, _) = await scene.AddRawAsync("one");
        Assert.True(scene.Client.TrySend("there"u8));
        using Message there = await socket.ReceiveAsync(Guard.Token).Guarded();
        Assert.True(socket.To(there).TrySend("back"u8));

        using GatewayMessage back = await scene.Gateway.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal((GatewayScene.Service, "back", "one"),
            (back.Service, Encoding.UTF8.GetString(back.Span), back.Receiver.RoutingId.ToString()));
        await scene.Client.SendAsync(back.Message, Guard.Token);

        Assert.Throws<ObjectDisposedException>(() => back.PartCount);
        Assert.Equal("back", await GatewayScene.ReceiveTextAsync(socket));
    }

    [Fact]
    public async Task Payloads_that_begin_like_an_envelope_go_behind_one_in_every_form_and_come_back_without_it()
    {
        await using var scene = new GatewayScene();
        (RouterSocket socket, _) = await scene.AddRawAsync("one");
        using var parts = new MessageBuilder();
        Assert.True(scene.Client.TrySend(Lookalike));
        Assert.True(scene.Client.TrySend(parts.Add(Lookalike).Add("b")));
        Assert.Equal(0, parts.Count);
        scene.Client.Send(Lookalike);
        await scene.Client.SendAsync(Lookalike, Guard.Token);
        await scene.Client.SendAsync(parts.Add(Lookalike), Guard.Token);
        IMemoryOwner<byte> owner = scene.Fixture.Pool.Rent(Lookalike.Length);
        Lookalike.CopyTo(owner.Memory);
        await scene.Client.SendAsync(owner, Lookalike.Length, Guard.Token);
        Assert.Equal(3, scene.Client.SendMany([new byte[1], Lookalike, new byte[2]]));

        for (int i = 0; i < 9; i++)
        {
            using Message message = await socket.ReceiveAsync(Guard.Token).Guarded();
            if (i is 6 or 8)
            {
                Assert.Equal(1, message.PartCount);
                continue;
            }

            Assert.Equal(i == 1 ? 3 : 2, message.PartCount);
            Assert.True(RequestEnvelope.TryRead(message.Span, out RequestEnvelope envelope));
            Assert.Equal(EnvelopeKind.Plain, envelope.Kind);
            Assert.Equal(Lookalike, message[1].ToArray());
            Assert.True(socket.To(message).TrySend(message));
            using GatewayMessage back = await scene.Gateway.ReceiveAsync(Guard.Token).Guarded();
            Assert.Equal(i == 1 ? 2 : 1, back.PartCount);
            Assert.Equal(Lookalike, back.Memory.ToArray());
        }
    }

    [Fact]
    public async Task Without_a_ready_receiver_TrySend_fails_and_SendAsync_waits_for_one()
    {
        await using var scene = new GatewayScene();
        Assert.Equal(SendFailure.NoPeer, scene.Client.TrySend("x"u8).Reason);
        Assert.Equal(SendFailure.NoPeer, scene.Client.To(RoutingId.FromText("x")).TrySend("x"u8).Reason);
        Assert.Equal(ZlinkError.HostUnreachable, Assert.Throws<ZlinkException>(() => scene.Client.Send("x"u8)).Error);
        Assert.Equal(0, scene.Client.SendMany([new byte[1]]));

        ValueTask sent = scene.Client.SendAsync("later"u8.ToArray(), Guard.Token);
        Assert.False(sent.IsCompleted);
        (RouterSocket socket, _) = await scene.AddRawAsync("one");

        await sent.AsTask().Guarded();
        Assert.Equal("later", await GatewayScene.ReceiveTextAsync(socket));
    }

    [Fact]
    public async Task Receivers_get_their_messages_in_turn_by_endpoint()
    {
        await using var scene = new GatewayScene();
        (RouterSocket Socket, string Endpoint)[] sockets =
            [await scene.AddRawAsync("one"), await scene.AddRawAsync("two"), await scene.AddRawAsync("three")];
        Array.Sort(sockets, static (left, right) => string.CompareOrdinal(left.Endpoint, right.Endpoint));
        for (int i = 0; i < 9; i++)
        {
            Assert.True(scene.Client.TrySend(Encoding.UTF8.GetBytes($"{i}")));
        }

        for (int i = 0; i < 9; i++)
        {
            Assert.Equal($"{i}", await GatewayScene.ReceiveTextAsync(sockets[i % 3].Socket));
        }
    }

    [Fact]
    public async Task Memory_that_a_send_takes_over_goes_to_the_receivers_in_turn()
    {
        const int Length = 100_000;
        await using var scene = new GatewayScene();
        RouterSocket[] receivers = [(await scene.AddRawAsync("1")).Socket, (await scene.AddRawAsync("2")).Socket];
        for (int i = 0; i < 4; i++)
        {
            IMemoryOwner<byte> owner = MemoryPool<byte>.Shared.Rent(Length);
            owner.Memory.Span[..Length].Fill((byte)i);
            await scene.Client.SendAsync(owner, Length, Guard.Token).Guarded();
        }

        var seen = new List<byte>();
        foreach (RouterSocket receiver in receivers)
        {
            for (int i = 0; i < 2; i++)
            {
                using Message message = await receiver.ReceiveAsync(Guard.Token).Guarded();
                Assert.Equal((Length, -1), (message.Span.Length, message.Span.IndexOfAnyExcept(message.Span[0])));
                seen.Add(message.Span[0]);
            }
        }

        Assert.Equal(2, seen[1] - seen[0]);
        Assert.Equal(2, seen[3] - seen[2]);
    }

    [Fact]
    public async Task A_full_receiver_passes_its_turn_to_the_next_one_unless_that_is_off()
    {
        foreach (bool triesNext in new[] { true, false })
        {
            await using var scene = new GatewayScene(
                new ServiceGatewayOptions { TryNextWhenFull = triesNext, Socket = { SendHighWaterMark = 2, Linger = TimeSpan.Zero } });
            using var listener = new FullReceiver(scene);
            string full = await listener.FillAsync();
            (RouterSocket open, _) = await scene.AddRawAsync("open");

            SendFailure[] reasons = [scene.Client.TrySend("a"u8).Reason, scene.Client.TrySend("b"u8).Reason];

            Assert.Equal([SendFailure.None, triesNext ? SendFailure.None : SendFailure.Full], reasons.Order());
            Assert.True(scene.Client.GetReceivers().Single(receiver => string.Equals(receiver.Endpoint, full, StringComparison.Ordinal))
                .QueuedMessages > 0);
            Assert.NotNull(open);
        }
    }

    [Fact]
    public async Task A_long_batch_goes_in_one_block_to_each_receiver_and_a_short_one_message_by_message()
    {
        await using var scene = new GatewayScene();
        (RouterSocket Socket, string Endpoint)[] sockets = [await scene.AddRawAsync("one"), await scene.AddRawAsync("two")];
        Array.Sort(sockets, static (left, right) => string.CompareOrdinal(left.Endpoint, right.Endpoint));
        ReadOnlyMemory<byte>[] batch = [.. Enumerable.Range(0, 101)
            .Select(static number => (ReadOnlyMemory<byte>)Encoding.UTF8.GetBytes($"{number}"))];

        Assert.Equal(101, scene.Client.SendMany(batch));
        for (int i = 0; i < 101; i++)
        {
            Assert.Equal($"{i}", await GatewayScene.ReceiveTextAsync(sockets[i < 51 ? 0 : 1].Socket));
        }

        // The turns go on at number 101.
        Assert.Equal(32, await scene.Client.SendManyAsync(batch.AsMemory(0, 32), Guard.Token).AsTask().Guarded());
        for (int i = 0; i < 32; i++)
        {
            Assert.Equal($"{i}", await GatewayScene.ReceiveTextAsync(sockets[(i + 1) % 2].Socket));
        }

        Assert.Equal(40, scene.Client.To(RoutingId.FromText("two")).SendMany(batch.AsSpan(0, 40)));
    }

    [Fact]
    public async Task A_batch_ends_where_nobody_has_room_and_what_was_accepted_is_its_beginning()
    {
        await using var scene = new GatewayScene(new ServiceGatewayOptions { Socket = { SendHighWaterMark = 2, Linger = TimeSpan.Zero } });
        using var one = new FullReceiver(scene);
        await one.FillAsync();
        ReadOnlyMemory<byte>[] batch = [.. Enumerable.Repeat((ReadOnlyMemory<byte>)new byte[10], 100)];

        Assert.Equal(0, scene.Client.SendMany(batch));
        Assert.Equal(SendFailure.Full, scene.Client.TrySend(batch[0].Span).Reason);
        Assert.Throws<TimeoutException>(() => scene.Client.Send(new byte[1], TimeSpan.Zero));
        using var cancellation = new CancellationTokenSource();
        ValueTask<int> waiting = scene.Client.SendManyAsync(batch, cancellation.Token);
        await cancellation.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => waiting.AsTask().Guarded());
    }

    [Fact]
    public async Task A_send_that_waits_for_room_goes_on_when_there_is_some()
    {
        await using var scene = new GatewayScene(new ServiceGatewayOptions { Socket = { SendHighWaterMark = 4, Linger = TimeSpan.Zero } });
        (RouterSocket socket, _) = await scene.AddRawAsync("slow", configure: static options => options.ReceiveHighWaterMark = 4);
        const int Messages = 2_000;
        Task sending = Task.Run(async () =>
        {
            byte[] payload = new byte[4_096];
            for (int i = 0; i < Messages; i++)
            {
                BitConverter.TryWriteBytes(payload, i);
                await scene.Client.SendAsync(payload, Guard.Token);
            }
        }, Guard.Token);
        for (int i = 0; i < Messages; i++)
        {
            using Message message = await socket.ReceiveAsync(Guard.Token).Guarded();
            Assert.Equal(i, BitConverter.ToInt32(message.Span));
        }

        await sending.Guarded();
    }

    [Fact]
    public async Task Unread_messages_beyond_the_limit_stop_reading_until_there_was_a_request_and_then_drop_the_oldest()
    {
        await using var scene = new GatewayScene(new ServiceGatewayOptions { UnreadMessageLimit = 2 });
        (RouterSocket socket, _) = await scene.AddRawAsync("one");
        Assert.True(scene.Client.TrySend("hello"u8));
        using Message hello = await socket.ReceiveAsync(Guard.Token).Guarded();
        for (int i = 0; i < 5; i++)
        {
            Assert.True(socket.To(hello).TrySend(Encoding.UTF8.GetBytes($"{i}")));
        }

        for (int i = 0; i < 5; i++)
        {
            using GatewayMessage message = await scene.Gateway.ReceiveAsync(Guard.Token).Guarded();
            Assert.Equal($"{i}", Encoding.UTF8.GetString(message.Span));
        }

        for (int i = 5; i < 10; i++)
        {
            Assert.True(socket.To(hello).TrySend(Encoding.UTF8.GetBytes($"{i}")));
        }

        Task<string> asked = scene.AskAsync("x");
        using (Message request = await socket.ReceiveAsync(Guard.Token).Guarded())
        {
            Assert.True(socket.To(request).TrySend(request));
        }

        Assert.Equal("x", await asked.Guarded());
        Assert.Equal(3, scene.Gateway.GetStatistics().DroppedMessages);
        var batch = new GatewayMessage[4];
        Assert.Equal(2, scene.Gateway.ReceiveMany(batch));
        Assert.Equal(["8", "9"], batch.Take(2).Select(static message => Encoding.UTF8.GetString(message.Span)), StringComparer.Ordinal);
        Array.ForEach(batch, static message => message.Dispose());
        Assert.False(scene.Gateway.TryReceive(out _));
    }

    /// <summary>A receiver that completes the handshake and then never reads.</summary>
    private sealed class FullReceiver(GatewayScene scene) : IDisposable
    {
        private RouterSocket? _socket;

        /// <summary>Fills whatever lies between: the queue, the system, and the queue over there.</summary>
        public async Task<string> FillAsync()
        {
            (_socket, string endpoint) = await scene.AddRawAsync("full", configure: static options =>
            {
                options.ReceiveHighWaterMark = 1;
                options.ReceiveBufferSize = 4_096;
                options.CloseTimeout = TimeSpan.Zero;
            });
            byte[] payload = new byte[256 * 1024];
            int refusals = 0;
            await scene.Fixture.UntilAsync(() =>
            {
                refusals = scene.Client.TrySend(payload) ? 0 : refusals + 1;
                return refusals > 200; // What the system takes it may take late.
            });
            return endpoint;
        }

        public void Dispose() => _socket?.Dispose();
    }
}
