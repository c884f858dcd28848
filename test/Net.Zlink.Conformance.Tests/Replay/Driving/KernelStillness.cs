using System.Diagnostics;
using Net.Zlink.Conformance.Tests.Replay.Model;
using Net.Zlink.Conformance.Tests.Replay.Played;
using Net.Zlink.Conformance.Tests.Sides;

namespace Net.Zlink.Conformance.Tests.Replay.Driving;

/// <summary>
/// Over tcp: the kernel holds no byte in either direction, the implementation has dealt with
/// all that it
/// read, and by doing so has caused nothing new.
/// </summary>
/// <param name="network">What is played.</param>
/// <param name="side">The implementation.</param>
/// <param name="guard">How long anything may take.</param>
internal sealed class KernelStillness(TcpNetwork network, IImplementedSide side, TimeSpan guard) : Stillness
{
    // What a thread of the pool has accepted, or read over ws, goes to a shard; what the shard makes of it may go back to the pool, as the
    // end of a connection does, and once more to the shard. A ws connection that comes in goes from thread to thread of the pool before it
    // waits for its upgrade.
    private const int Rounds = 3;

    // What the implementation has only to read is read within this; what takes longer mostly waits for an acknowledgement that the kernel
    // puts off for milliseconds.
    private static readonly TimeSpan Impatience = TimeSpan.FromMicroseconds(200);

    public override bool KnowsOfEnds => false;

    public override async Task WaitAsync()
    {
        long start = Stopwatch.GetTimestamp();
        while (true)
        {
            if (KernelQueues.AreEmpty(network.Connections, network.ListeningPorts, Stopwatch.GetElapsedTime(start)))
            {
                long before = network.ReceivedTotal;
                await IdleAsync();
                network.Drain();
                if (network.ReceivedTotal == before)
                {
                    return;
                }
            }

            await YieldAsync(start, "the connections never became still");
        }
    }

    public override async Task WaitUntilReadAsync(PlayedConnection connection)
    {
        long start = Stopwatch.GetTimestamp();
        while (!KernelQueues.HasRead(connection))
        {
            await YieldAsync(start, $"bytes sent on connection {connection.Number} were never read");
        }
    }

    public override async Task DropAsync(PlayedConnection connection, CloseKind how)
    {
        uint inode = KernelQueues.InodeOfOtherEnd(connection);
        connection.Drop(how);
        long start = Stopwatch.GetTimestamp();
        while (how is CloseKind.Rst && KernelQueues.IsHeld(inode))
        {
            await YieldAsync(start, $"that connection {connection.Number} was reset was never noticed");
        }
    }

    public override async Task WaitUntilTakenAsync(PlayedConnection connection)
    {
        await WaitUntilReadAsync(connection);
        await IdleAsync();
    }

    public override async Task IdleAsync()
    {
        await ShardsIdleAsync();
        for (int round = 0; round < Rounds; round++)
        {
            await PoolBarrier.PassAsync();
            await ShardsIdleAsync();
        }
    }

    public override async Task<bool> IsChangedAsync(Task change)
    {
        await change.WaitAsync(guard).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        return change.IsCompleted;
    }

    public override async Task<bool> HasComeAsync(Func<bool> tryTake, Func<CancellationToken, Task> takeAsync)
    {
        if (tryTake())
        {
            return true;
        }

        using var deadline = new CancellationTokenSource(guard);
        try
        {
            await takeAsync(deadline.Token);
            return true;
        }
        catch (OperationCanceledException) when (deadline.IsCancellationRequested)
        {
            return false;
        }
    }

    private async Task ShardsIdleAsync()
    {
        try
        {
            await side.WhenIdleAsync().WaitAsync(guard);
        }
        catch (TimeoutException)
        {
            throw new ReplayFailedException("the implementation never became idle");
        }
    }

    private async Task YieldAsync(long start, string otherwise)
    {
        TimeSpan looking = Stopwatch.GetElapsedTime(start);
        if (looking > guard)
        {
            throw new ReplayFailedException(otherwise);
        }

        if (looking < Impatience)
        {
            await Task.Yield();
        }
        else
        {
            await Task.Delay(1); // The kernel can only be asked; the other runs get the processor meanwhile.
        }
    }
}
