using System.Collections.Concurrent;
using Net.Zlink.Services;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Extensions.Tests;

/// <summary>Programs (a), (b), (c) and (g) of the comparison in docs/hosting.md. Its lines are those between the marks.</summary>
public sealed class RequestPrograms
{
    [Fact]
    public async Task Program_a_asks_with_20_clients_of_which_some_requests_time_out_and_some_are_cancelled()
    {
        int ok = 0, late = 0, cancelled = 0;

        // begin a
        await using var context = new ZlinkContext();
        await using var server = new RequestServer(context, "tcp://127.0.0.1:*", Serializers.Json);
        _ = server.ServeAsync<int, int>(
            async (number, end) => number % 10 < 8 ? 2 * number : await NeverAsync(end), maxConcurrency: 256, Guard.Token);
        await Parallel.ForAsync(0, 20, Guard.Token, async (_, _) =>
        {
            await using var client = new RequestClient(context, server.Endpoint, Serializers.Json);
            for (int i = 0; i < 50; i++)
            {
                using var cancel = new CancellationTokenSource(i % 10 == 9 ? 20 : Timeout.Infinite);
                try
                {
                    await client.RequestAsync<int, int>(i, i % 10 == 8 ? TimeSpan.FromMilliseconds(20) : Guard.Limit, cancel.Token);
                    Interlocked.Increment(ref ok);
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
    public async Task Program_b_gives_a_late_subscriber_the_newest_price_of_each_currency_first()
    {
        await using var context = new ZlinkContext();
        var seen = new List<string>();

        // begin b
        await using var prices = new LastValuePublisher(context, "tcp://127.0.0.1:*");
        prices.Publish("price.EUR", "1.1"u8);
        prices.Publish("price.EUR", "1.2"u8);
        using SubSocket late = context.CreateSub().ConnectedTo(prices.Socket.LastEndpoint);
        await foreach (string price in late.SubscribeAsync("price.", static m => $"{m.GetString()} {m.GetString(1)}", Guard.Token))
        {
            seen.Add(price);
            if (seen.Count == 2)
            {
                break;
            }

            prices.Publish("price.EUR", "1.3"u8);
        }
        // end b

        Assert.Equal(["price.EUR 1.2", "price.EUR 1.3"], seen, StringComparer.Ordinal);
    }

    [Fact]
    public async Task Program_c_gets_every_job_done_although_2_of_4_workers_die()
    {
        await using var context = new ZlinkContext();
        var done = new ConcurrentDictionary<int, int>();

        // begin c
        var workers = Enumerable.Range(0, 4).Select(_ => new RequestServer(context, "tcp://127.0.0.1:*", Serializers.Json)).ToArray();
        _ = workers.Select(w => w.ServeAsync<int, int>(static (job, _) => ValueTask.FromResult(2 * job), 64, Guard.Token)).ToList();
        await using var gateway = new ServiceGateway(
            context, new StaticDirectory(workers.Select(static worker => new ServiceInstance("jobs", worker.Endpoint))));
        var client = new RequestClient(gateway.GetClient("jobs"), Serializers.Json);
        await Parallel.ForAsync(0, 2000, Guard.Token, async (job, cancellation) =>
        {
            if (job is 100 or 500)
            {
                await workers[job / 500].DisposeAsync(); // It dies.
            }

            while (!done.ContainsKey(job))
            {
                try
                {
                    done[job] = await client.RequestAsync<int, int>(job, Guard.Limit, cancellation);
                }
                catch (ServiceException)
                {
                    // Its worker has died: another one does the job, perhaps once more.
                }
            }
        });
        // end c

        Assert.Equal(2000, done.Count);
        Assert.All(done, static one => Assert.Equal(2 * one.Key, one.Value));
        Array.ForEach(workers, static worker => worker.Dispose());
    }

    [Theory]
    [InlineData("json")]
    [InlineData("memorypack")]
    [InlineData("messagepack")]
    public async Task Program_g_exchanges_values_with_three_serializers(string name)
    {
        await using var context = new ZlinkContext();
        using PairSocket one = context.CreatePair();
        using PairSocket two = context.CreatePair();
        one.Bind("inproc://values");
        two.Connect("inproc://values");

        // begin g
        IMessageSerializer serializer = Serializers.Of(name);
        await two.SendAsync(new Quote("EUR", 1.2m), serializer, Guard.Token);
        Quote quote = await one.ReceiveAsync<Quote>(serializer, Guard.Token);
        // end g

        Assert.Equal(new Quote("EUR", 1.2m), quote);
    }

    private static async ValueTask<int> NeverAsync(CancellationToken end)
    {
        await Task.Delay(Timeout.Infinite, end);
        return 0;
    }
}
