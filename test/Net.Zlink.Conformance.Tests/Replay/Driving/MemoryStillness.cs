using Net.Zlink.Conformance.Tests.Replay.Model;
using Net.Zlink.Conformance.Tests.Replay.Played;
using Net.Zlink.Conformance.Tests.Sides;

namespace Net.Zlink.Conformance.Tests.Replay.Driving;

/// <summary>In memory: the replay runs the implementation's turns itself, and what they cause is over when they are.</summary>
/// <param name="network">What is played.</param>
/// <param name="side">The implementation.</param>
internal sealed class MemoryStillness(PlayedNetwork network, IImplementedSide side) : Stillness
{
    public override bool KnowsOfEnds => true;

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

    public override Task<bool> IsChangedAsync(Task change) => IsThere(() => change.IsCompleted);

    public override Task<bool> HasComeAsync(Func<bool> tryTake, Func<CancellationToken, Task> takeAsync) => IsThere(tryTake);

    /// <summary>What has not come now does not come.</summary>
    private Task<bool> IsThere(Func<bool> condition)
    {
        Settle();
        return Task.FromResult(condition());
    }

    private void Settle()
    {
        long before;
        do
        {
            before = network.ReceivedTotal;
            _ = side.WhenIdleAsync(); // In memory it runs what there is.
            network.Drain();
        }
        while (network.ReceivedTotal != before);
    }
}
