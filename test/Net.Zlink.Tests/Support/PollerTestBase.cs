using Xunit;

namespace Net.Zlink.Tests.Support;

/// <summary>A context whose pool knows who rented what, and a poller with room for its results.</summary>
public abstract class PollerTestBase : IAsyncDisposable
{
    private protected StreamFixture Fixture { get; } = new();

    private protected ZlinkContext Context => Fixture.Context;

    private protected SocketPoller Poller { get; } = new();

    private protected PollResult[] Results { get; } = new PollResult[8];

    /// <summary>What polls allocate: one that finds something ready, then, once that is taken, one that finds nothing and one that
    /// waits.</summary>
    private protected long[] AllocationsOfPolls(Action take)
    {
        long[] allocated = new long[3];
        var polling = new Thread(() =>
        {
            allocated[0] = Allocations.Of(() => Poller.Poll(Results, TimeSpan.Zero));
            take();
            allocated[1] = Allocations.Of(() => Poller.Poll(Results, TimeSpan.Zero));
            allocated[2] = Allocations.Of(() => Poller.Poll(Results, TimeSpan.FromTicks(1)));
        });
        polling.Start();
        polling.JoinGuarded();
        return allocated;
    }

    /// <summary>Two poll and take, one changes the items all the time, and each item is sent to: all of that must be taken.</summary>
    /// <param name="items">How many there are; each is added already.</param>
    /// <param name="count">Messages to each.</param>
    /// <param name="change">Takes an item out and adds it again, which is interesting while it yields in between.</param>
    /// <param name="send">Sends one message to an item.</param>
    /// <param name="tryTake">Takes one message, if there is one.</param>
    private protected async Task AssertNothingIsMissedAsync(
        int items, int count, Func<int, Task> change, Func<int, Task> send, Predicate<PollResult> tryTake)
    {
        int taken = 0;
        using var done = CancellationTokenSource.CreateLinkedTokenSource(Guard.Token);
        Task[] taking = [.. Enumerable.Range(0, 2).Select(_ => Task.Run(TakeAllAsync, Guard.Token))];
        Task changing = Task.Run(
            async () =>
            {
                for (int i = 0; !done.IsCancellationRequested; i++)
                {
                    await change(i);
                }
            },
            Guard.Token);
        await Task.WhenAll(Enumerable.Range(0, items).Select(item => Task.Run(
            async () =>
            {
                for (int i = 0; i < count; i++)
                {
                    await send(item);
                }
            },
            Guard.Token))).Guarded();
        await Task.WhenAll(taking).Guarded();
        await changing.Guarded();
        Assert.Equal(items * count, taken);

        async Task TakeAllAsync()
        {
            var results = new PollResult[2];
            try
            {
                while (true)
                {
                    int ready = await Poller.PollAsync(results, done.Token);
                    for (int i = 0; i < ready; i++)
                    {
                        while (tryTake(results[i]))
                        {
                            if (Interlocked.Increment(ref taken) == items * count)
                            {
                                await done.CancelAsync();
                            }
                        }
                    }
                }
            }
            catch (OperationCanceledException)
            {
                // All were taken.
            }
        }
    }

    public async ValueTask DisposeAsync()
    {
        Poller.Dispose();
        await Fixture.DisposeAsync();
        GC.SuppressFinalize(this);
    }
}
