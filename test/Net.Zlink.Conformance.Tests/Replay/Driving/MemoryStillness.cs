using System.Diagnostics;
using Net.Zlink.Conformance.Tests.Replay.Model;
using Net.Zlink.Conformance.Tests.Replay.Played;
using Net.Zlink.Conformance.Tests.Sides;

namespace Net.Zlink.Conformance.Tests.Replay.Driving;

/// <summary>In memory: the replay runs the implementation's turns itself, and what they cause is over when they are.</summary>
/// <param name="network">What is played.</param>
/// <param name="side">The implementation.</param>
/// <param name="patience">How long to wait for what leaves the caller's stack, as a dial does. Zero: nothing does.</param>
internal sealed class MemoryStillness(PlayedNetwork network, IImplementedSide side, TimeSpan patience) : Stillness
{
    private const int LooksWithoutPause = 100;

    public override Task WaitAsync()
    {
        Settle();
        return Task.CompletedTask;
    }

    public override Task WaitUntilReadAsync(PlayedConnection connection) => WaitAsync();

    public override Task WaitUntilTakenAsync(PlayedConnection connection) => WaitAsync();

    public override Task IdleAsync() => WaitAsync();

    public override Task DropAsync(PlayedConnection connection, CloseKind how)
    {
        connection.Drop(how);
        return WaitAsync();
    }

    public override Task<bool> IsChangedAsync(Task change) => UntilAsync(() => change.IsCompleted);

    public override Task<bool> HasComeAsync(Func<bool> tryTake, Func<CancellationToken, Task> takeAsync) => UntilAsync(tryTake);

    private async Task<bool> UntilAsync(Func<bool> condition)
    {
        long start = Stopwatch.GetTimestamp();
        Settle();
        for (int look = 0; !condition(); look++)
        {
            if (Stopwatch.GetElapsedTime(start) >= patience)
            {
                return false;
            }

            if (look < LooksWithoutPause)
            {
                await Task.Yield();
            }
            else
            {
                await Task.Delay(1);
            }

            Settle();
        }

        return true;
    }

    private void Settle()
    {
        long before;
        do
        {
            before = network.ReceivedTotal;
            side.WhenIdleAsync(); // In memory it runs what there is.
            network.Drain();
        }
        while (network.ReceivedTotal != before);
    }
}
