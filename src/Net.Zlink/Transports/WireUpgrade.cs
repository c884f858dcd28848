using System.Net.Sockets;
using Net.Zlink.Buffers;

namespace Net.Zlink.Transports;

/// <summary>A transport's own handshake over a connected socket: TLS, the WebSocket upgrade, or one after the other. Immutable; any number
/// may run at once.</summary>
internal abstract class WireUpgrade
{
    /// <summary>Its first phase in words, as in "... was not complete within 30000 ms".</summary>
    public abstract string FirstPhase { get; }

    /// <summary>What new connections get though it is out of date, and why; null: nothing.</summary>
    public virtual string? Staleness => null;

    /// <summary>How long each of its phases may take; zero: no limit.</summary>
    protected abstract TimeSpan Limit { get; }

    /// <summary>
    /// Runs it, on pool threads, or on its own where there are callbacks of the user's: certificates are checked, files read and these
    /// called there. Each of its phases has a time limit. Never throws for what the peer or the network does, nor for cancellation: the
    /// task completes with a value. The socket is the result's, or disposed, at the latest with its farewell.
    /// </summary>
    /// <param name="socket">Connected.</param>
    /// <param name="pool">For its buffers and the wire's.</param>
    /// <param name="time">The clock of its limits.</param>
    /// <param name="waits">Hears when it waits for the peer; null: nobody asks.</param>
    /// <param name="cancellation">Ends it, and its farewell.</param>
    public abstract Task<UpgradeResult> RunAsync(
        Socket socket, BufferPool pool, TimeProvider time, PeerWait? waits, CancellationToken cancellation);

    /// <summary>Starts the clock of a phase.</summary>
    public Deadline StartPhase(TimeProvider time, CancellationToken cancellation) =>
        new(Limit > TimeSpan.Zero ? Limit : Timeout.InfiniteTimeSpan, time, cancellation);

    /// <summary>What a phase ended in that was cancelled, whose time was up, or else whose connection was lost.</summary>
    public UpgradeResult ResultOf(string phase, Exception exception, Deadline deadline, CancellationToken cancellation) =>
        cancellation.IsCancellationRequested ? UpgradeResult.Cancelled
        : deadline.IsOver ? UpgradeResult.TimedOut(phase, Limit)
        : UpgradeResult.Lost(phase, exception);
}
