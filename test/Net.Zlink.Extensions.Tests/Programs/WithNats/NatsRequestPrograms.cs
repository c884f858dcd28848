using System.Buffers;
using System.Collections.Concurrent;
using System.Threading.Channels;
using MemoryPack;
using MessagePack;
using NATS.Client.Core;
using NATS.Client.KeyValueStore;
using NATS.Net;
using Net.Zlink.Discovery.Tests.Nats;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Extensions.Tests;

/// <summary>Programs (a), (b), (c) and (g) with NATS.Net: the last column of the comparison in docs/comparison.md.</summary>
public sealed class NatsRequestPrograms
{
    [SlowFact]
    public async Task Program_a_with_NATS_asks_with_20_clients()
    {
        await using NatsServer nats = await NatsServer.StartAsync();
        string url = nats.Url;
        int ok = 0, late = 0, cancelled = 0;

        // begin a
        await using var server = new NatsClient(url);
        await using INatsSub<int> requests = await server.Connection.SubscribeCoreAsync<int>("double", cancellationToken: Guard.Token);
        var limit = new ParallelOptions { MaxDegreeOfParallelism = 256, CancellationToken = Guard.Token };
        _ = Parallel.ForEachAsync(requests.Msgs.ReadAllAsync(Guard.Token), limit, static async (request, end) =>
            await request.ReplyAsync(request.Data % 10 < 8 ? 2 * request.Data : await NeverAsync(end), cancellationToken: end));
        await Parallel.ForAsync(0, 20, Guard.Token, async (_, _) =>
        {
            await using var client = new NatsClient(url);
            for (int i = 0; i < 50; i++)
            {
                using var cancel = new CancellationTokenSource(i % 10 == 9 ? 20 : Timeout.Infinite);
                var opts = new NatsSubOpts { Timeout = i % 10 == 8 ? TimeSpan.FromMilliseconds(20) : Guard.Limit };
                try
                {
                    NatsMsg<int> reply = await client.RequestAsync<int, int>("double", i, replyOpts: opts, cancellationToken: cancel.Token);
                    Interlocked.Add(ref ok, reply.Data == 2 * i ? 1 : 0);
                }
                catch (NatsNoReplyException)
                {
                    Interlocked.Increment(ref late);
                }
                catch (OperationCanceledException)
                {
                    Interlocked.Increment(ref cancelled);
                }
            }
        });
        // end a

        Assert.Equal((800, 100, 100), (ok, late, cancelled));
    }

    [SlowFact]
    public async Task Program_b_with_NATS_gives_a_late_subscriber_every_price_and_says_what_a_slow_one_lost()
    {
        await using NatsServer nats = await NatsServer.StartAsync();
        string url = nats.Url;
        var seen = new List<int>();
        long lost = 0;

        // begin b
        await using var client = new NatsClient(url);
        client.Connection.MessageDropped += (_, _) => new ValueTask(Task.FromResult(Interlocked.Increment(ref lost)));
        INatsKVStore prices = await client.CreateKeyValueStoreContext().CreateStoreAsync("prices", Guard.Token);
        await prices.PutAsync("price.EUR", Book.Write(1), cancellationToken: Guard.Token);
        await prices.PutAsync("price.EUR", Book.Write(2), cancellationToken: Guard.Token);
        var few = new NatsSubOpts { ChannelOpts = new NatsSubChannelOpts { Capacity = 100, FullMode = BoundedChannelFullMode.DropNewest } };
        await using INatsSub<byte[]> slow = await client.Connection.SubscribeCoreAsync<byte[]>(
            "$KV.prices.>", opts: few, cancellationToken: Guard.Token); // And it reads nothing.
        await foreach (NatsKVEntry<byte[]> price in prices.WatchAsync<byte[]>("price.>", cancellationToken: Guard.Token))
        {
            seen.Add(Book.Read(price.Value));
            if (Interlocked.Read(ref lost) > 0)
            {
                break;
            }

            await prices.PutAsync("price.EUR", Book.Write(seen[^1] + 1), cancellationToken: Guard.Token);
        }
        // end b

        Assert.Equal(Enumerable.Range(2, seen.Count), seen);
        Assert.True(lost > 0);
    }

    [SlowFact]
    public async Task Program_c_with_NATS_gets_every_job_done_although_2_of_4_workers_end()
    {
        await using NatsServer nats = await NatsServer.StartAsync();
        string url = nats.Url;
        var done = new ConcurrentDictionary<int, int>();
        using var end = CancellationTokenSource.CreateLinkedTokenSource(Guard.Token);

        // begin c
        NatsClient[] workers = [.. Enumerable.Range(0, 4).Select(_ => new NatsClient(url))];
        _ = workers.Select(worker => WorkAsync(worker, end.Token)).ToList();
        await using var client = new NatsClient(url);
        var limit = new NatsSubOpts { Timeout = TimeSpan.FromSeconds(1) };
        await Parallel.ForAsync(0, 2000, Guard.Token, async (job, cancellation) =>
        {
            if (job is 100 or 500)
            {
                await workers[job / 500].DisposeAsync(); // It ends in the middle of its work.
            }

            while (!done.ContainsKey(job))
            {
                try
                {
                    done[job] = (await client.RequestAsync<int, int>("jobs", job, replyOpts: limit, cancellationToken: cancellation)).Data;
                }
                catch (NatsException)
                {
                    // Its worker has ended: another one does the job, perhaps once more.
                }
            }
        });
        // end c

        await end.CancelAsync();
        await Task.WhenAll(workers.Select(static worker => worker.DisposeAsync().AsTask())).Guarded();
        Assert.Equal(2000, done.Count);
        Assert.All(done, static one => Assert.Equal(2 * one.Key, one.Value));
    }

    [SlowFact]
    public async Task Program_g_with_NATS_exchanges_values_with_three_serializers()
    {
        await using NatsServer nats = await NatsServer.StartAsync();
        await using var client = new NatsClient(nats.Url);
        var ticks = new List<Tick?>();

        // begin g
        INatsSerializer<Tick>[] all =
            [NatsClientDefaultSerializer<Tick>.Default, new MemoryPackNatsSerializer<Tick>(), new MessagePackNatsSerializer<Tick>()];
        foreach (INatsSerializer<Tick> serializer in all)
        {
            // end g
            await using INatsSub<Tick> sub = await client.Connection.SubscribeCoreAsync(
                "ticks", serializer: serializer, cancellationToken: Guard.Token);

            // begin g
            await client.PublishAsync("ticks", new Tick("EUR", 1.2m), serializer: serializer, cancellationToken: Guard.Token);
            ticks.Add((await sub.Msgs.ReadAsync(Guard.Token)).Data);
        }
        // end g

        Assert.Equal(Enumerable.Repeat(new Tick("EUR", 1.2m), 3), ticks);
    }

    // begin c
    private static async Task WorkAsync(NatsClient worker, CancellationToken end)
    {
        await foreach (NatsMsg<int> job in worker.SubscribeAsync<int>("jobs", "workers", cancellationToken: end))
        {
            await job.ReplyAsync(2 * job.Data, cancellationToken: end);
        }
    }
    // end c

    private static async ValueTask<int> NeverAsync(CancellationToken end)
    {
        await Task.Delay(Timeout.Infinite, end);
        return 0;
    }

    // begin g
    private sealed class MemoryPackNatsSerializer<T> : INatsSerializer<T>
    {
        public void Serialize(IBufferWriter<byte> bufferWriter, T value) => MemoryPackSerializer.Serialize(bufferWriter, value);

        public T? Deserialize(in ReadOnlySequence<byte> buffer) => MemoryPackSerializer.Deserialize<T>(buffer);

        public INatsSerializer<T> CombineWith(INatsSerializer<T> next) => throw new NotSupportedException();
    }

    private sealed class MessagePackNatsSerializer<T> : INatsSerializer<T>
    {
        public void Serialize(IBufferWriter<byte> bufferWriter, T value) => MessagePackSerializer.Serialize(bufferWriter, value);

        public T? Deserialize(in ReadOnlySequence<byte> buffer) => MessagePackSerializer.Deserialize<T>(buffer);

        public INatsSerializer<T> CombineWith(INatsSerializer<T> next) => throw new NotSupportedException();
    }
    // end g
}
