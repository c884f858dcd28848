using Net.Zlink.Conformance.Tests.Replay.Model;
using Net.Zlink.Conformance.Tests.Replay.Played;

namespace Net.Zlink.Conformance.Tests.Replay.Driving;

/// <summary>The proof that nothing more comes without time passing, and the wait for what comes without it.</summary>
internal abstract class Stillness
{
    public abstract Task WaitAsync();

    /// <summary>False: an end of a connection may have come that the implementation has not noticed: no queue of the kernel shows
    /// it.</summary>
    public abstract bool KnowsOfEnds { get; }

    /// <summary>Until the implementation has read all that was sent on this connection.</summary>
    public abstract Task WaitUntilReadAsync(PlayedConnection connection);

    /// <summary>Until it has dealt with that, too.</summary>
    public abstract Task WaitUntilTakenAsync(PlayedConnection connection);

    /// <summary>Until it has dealt with all that it has read.</summary>
    public abstract Task IdleAsync();

    /// <summary>Drops the connection and waits until the implementation has noticed.</summary>
    public abstract Task DropAsync(PlayedConnection connection, CloseKind how);

    /// <summary>Waits for a change of the network, which was asked for before. False: it does not come.</summary>
    public abstract Task<bool> IsChangedAsync(Task change);

    /// <summary>Waits for what the application gets. False: it does not come.</summary>
    public abstract Task<bool> HasComeAsync(Func<bool> tryTake, Func<CancellationToken, Task> takeAsync);
}
