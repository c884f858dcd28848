using System.Buffers.Binary;
using System.Collections.Concurrent;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Stream;

public sealed class ManyThreadsTests
{
    private const int Threads = 8;
    private const int PerThread = 2000;

    [Theory]
    [InlineData(16)]
    [InlineData(5000)]
    public async Task Eight_threads_send_to_one_peer_and_each_ones_messages_arrive_whole_and_in_order(int size)
    {
        await using var fixture = new StreamFixture();
        StreamSocket server = fixture.Bind(out string endpoint, new StreamOptions { ReceiveHighWaterMark = 500 });
        StreamSocket client = fixture.Context.CreateStream(new StreamOptions { SendHighWaterMark = 200 });
        uint id = await client.ConnectAsync(endpoint, Guard.Token).Guarded();
        await server.NextConnectedAsync();
        Thread[] senders = Start(sender =>
        {
            byte[] payload = Wire.Pattern(size, sender);
            for (int i = 0; i < PerThread; i++)
            {
                BinaryPrimitives.WriteInt32BigEndian(payload, sender);
                BinaryPrimitives.WriteInt32BigEndian(payload.AsSpan(4), i);
                if (i % 2 == 0 || !client.To(id).TrySend(payload))
                {
                    client.To(id).Send(payload, Guard.Limit);
                }
            }
        });

        int[] next = new int[Threads];
        byte[][] patterns = [.. Enumerable.Range(0, Threads).Select(sender => Wire.Pattern(size, sender)[8..])];
        for (int i = 0; i < Threads * PerThread; i++)
        {
            using StreamMessage message = await server.NextAsync();
            int sender = BinaryPrimitives.ReadInt32BigEndian(message.Span);
            Assert.Equal(next[sender]++, BinaryPrimitives.ReadInt32BigEndian(message.Span[4..]));
            Assert.True(message.Span[8..].SequenceEqual(patterns[sender]));
        }

        Assert.All(senders, static sender => sender.JoinGuarded());
    }

    [Fact]
    public async Task Eight_threads_receive_every_message_once_and_each_sees_a_peers_messages_in_order()
    {
        await using var fixture = new StreamFixture();
        StreamSocket server = fixture.Bind(out string endpoint);
        StreamSocket client = fixture.Context.CreateStream();
        for (int i = 0; i < 4; i++)
        {
            await client.ConnectAsync(endpoint, Guard.Token).Guarded();
            await server.NextConnectedAsync();
        }

        var seen = new ConcurrentDictionary<(uint Peer, int Number), int>();
        Thread[] receivers = Start(thread =>
        {
            int[] last = [-1, -1, -1, -1, -1];
            var capacity = new StreamMessage[7];
            while (true)
            {
                try
                {
                    capacity[0] = server.Receive(Guard.Limit);
                    int count = 1 + server.ReceiveMany(capacity.AsSpan(1, thread % capacity.Length));
                    foreach (StreamMessage message in capacity.AsSpan(0, count))
                    {
                        int number = BinaryPrimitives.ReadInt32BigEndian(message.Span);
                        Assert.True(number > last[message.PeerId]);
                        last[message.PeerId] = number;
                        Assert.True(seen.TryAdd((message.PeerId, number), thread));
                        message.Dispose();
                    }
                }
                catch (ObjectDisposedException)
                {
                    return;
                }
            }
        });
        byte[] payload = new byte[100];
        for (int i = 0; i < PerThread; i++)
        {
            BinaryPrimitives.WriteInt32BigEndian(payload, i);
            for (uint id = 1; id <= 4; id++)
            {
                await client.To(id).SendAsync(payload, Guard.Token).Guarded();
            }
        }

        await fixture.UntilAsync(() => seen.Count == 4 * PerThread);
        server.Dispose();
        Assert.All(receivers, static receiver => receiver.JoinGuarded());
    }

    [Fact]
    public async Task Sends_from_many_tasks_that_wait_keep_their_order_and_none_is_lost()
    {
        await using var fixture = new StreamFixture();
        StreamSocket server = fixture.Bind(TestHandler.Echo(), out string endpoint);
        StreamSocket client = fixture.Context.CreateStream(new StreamOptions { SendHighWaterMark = 5 });
        uint id = await client.ConnectAsync(endpoint, Guard.Token).Guarded();
        await client.NextConnectedAsync();
        Task[] sending = [.. Enumerable.Range(0, Threads).Select(sender => Task.Run(
            async () =>
            {
                for (int i = 0; i < 500; i++)
                {
                    await client.To(id).SendAsync(new[] { (byte)sender, (byte)(i >> 8), (byte)i }, Guard.Token);
                }
            },
            Guard.Token))];
        int[] next = new int[Threads];
        for (int i = 0; i < Threads * 500; i++)
        {
            byte[] echoed = await client.NextDataAsync(id);
            Assert.Equal(next[echoed[0]]++, (echoed[1] << 8) | echoed[2]);
        }

        await Task.WhenAll(sending).Guarded();
        Assert.Equal(Threads * 500, server.GetStatistics().ReceivedMessages);
    }

    private static Thread[] Start(Action<int> action)
    {
        var threads = new Thread[Threads];
        for (int i = 0; i < Threads; i++)
        {
            int number = i;
            threads[i] = new Thread(() => action(number)) { IsBackground = true };
            threads[i].Start();
        }

        return threads;
    }
}
