using System.Collections.Concurrent;
using Net.Zlink.Services;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Extensions.Tests;

/// <summary>Programs (a), (b), (c) and (g) of the comparison in docs/comparison.md. Its lines are those between the marks.</summary>
public sealed class RequestPrograms
{
    [Fact]
    public async Task Program_a_asks_with_20_clients_of_which_some_requests_time_out_and_some_are_cancelled()
    {
        int ok = 0, late = 0, cancelled = 0;

        // begin a
        await using var context = new ZlinkContext();
        await using var server = new RequestServer(context, "tcp://127.0.0.1:*", new JsonMessageSerializer());
        _ = server.ServeAsync<int, int>(
            async (number, end) => number % 10 < 8 ? 2 * number : await NeverAsync(end), maxConcurrency: 256, Guard.Token);
        await Parallel.ForAsync(0, 20, Guard.Token, async (_, _) =>
        {
            await using var client = new RequestClient(context, server.Endpoint, new JsonMessageSerializer());
            for (int i = 0; i < 50; i++)
            {
                using var cancel = new CancellationTokenSource(i % 10 == 9 ? 20 : Timeout.Infinite);
                try
                {
                    TimeSpan limit = i % 10 == 8 ? TimeSpan.FromMilliseconds(20) : Guard.Limit;
                    int reply = await client.RequestAsync<int, int>(i, limit, cancel.Token);
                    Interlocked.Add(ref ok, reply == 2 * i ? 1 : 0);
                }
                catch (TimeoutException)
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

    [Fact]
    public async Task Program_b_gives_a_late_subscriber_every_price_and_says_what_a_slow_one_lost()
    {
        await using var context = new ZlinkContext();
        var seen = new List<int>();
        long lost = 0;

        // begin b
        var few = new LastValueOptions { Socket = { SendHighWaterMark = 100 } };
        await using var prices = new LastValuePublisher(context, "tcp://127.0.0.1:*", few);
        prices.Publish("price.EUR", Book.Write(1));
        prices.Publish("price.EUR", Book.Write(2));
        using SubSocket slow = context.CreateSub(new SubOptions { ReceiveHighWaterMark = 100 }).ConnectedTo(prices.Socket.LastEndpoint);
        slow.Subscribe("price."); // And it reads nothing.
        using SubSocket late = context.CreateSub().ConnectedTo(prices.Socket.LastEndpoint);
        await foreach (int number in late.SubscribeAsync("price.", static m => Book.Read(m[1].Span), Guard.Token))
        {
            seen.Add(number);
            lost = prices.Socket.GetPeers().Sum(static peer => peer.MessagesDropped);
            if (lost > 0)
            {
                break;
            }

            prices.Publish("price.EUR", Book.Write(number + 1));
        }
        // end b

        Assert.Equal(Enumerable.Range(2, seen.Count), seen);
        Assert.Single(prices.Socket.GetPeers(), static peer => peer.MessagesDropped > 0);
    }

    [Fact]
    public async Task Program_c_gets_every_job_done_although_2_of_4_workers_end()
    {
        await using var context = new ZlinkContext();
        var done = new ConcurrentDictionary<int, int>();

        // begin c
        var json = new JsonMessageSerializer();
        RequestServer[] workers = [.. Enumerable.Range(0, 4).Select(_ => new RequestServer(context, "tcp://127.0.0.1:*", json))];
        _ = workers.Select(w => w.ServeAsync<int, int>(static (job, _) => ValueTask.FromResult(2 * job), 64, Guard.Token)).ToList();
        await using var gateway = new ServiceGateway(
            context, new StaticDirectory(workers.Select(static worker => new ServiceInstance("jobs", worker.Endpoint))));
        var client = new RequestClient(gateway.GetClient("jobs"), json);
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
                    done[job] = await client.RequestAsync<int, int>(job, Guard.Limit, cancellation);
                }
                catch (ServiceException)
                {
                    // Its worker has ended: another one does the job, perhaps once more.
                }
            }
        });
        // end c

        Assert.Equal(2000, done.Count);
        Assert.All(done, static one => Assert.Equal(2 * one.Key, one.Value));
        Array.ForEach(workers, static worker => worker.Dispose());
    }

    [Fact]
    public async Task Program_g_exchanges_values_with_three_serializers()
    {
        await using var context = new ZlinkContext();
        using PairSocket one = context.CreatePair();
        using PairSocket two = context.CreatePair();
        one.Bind("inproc://values");
        two.Connect("inproc://values");
        var ticks = new List<Tick>();

        // begin g
        IMessageSerializer[] all = [new JsonMessageSerializer(), new MemoryPackMessageSerializer(), new MessagePackMessageSerializer()];
        foreach (IMessageSerializer serializer in all)
        {
            await two.SendAsync(new Tick("EUR", 1.2m), serializer, Guard.Token);
            ticks.Add(await one.ReceiveAsync<Tick>(serializer, Guard.Token));
        }
        // end g

        Assert.Equal(Enumerable.Repeat(new Tick("EUR", 1.2m), 3), ticks);
    }

    private static async ValueTask<int> NeverAsync(CancellationToken end)
    {
        await Task.Delay(Timeout.Infinite, end);
        return 0;
    }
}
