using System.Net.Sockets;
using Net.Zlink.Buffers;

namespace Net.Zlink.Transports;

/// <summary>
/// A transport's handshake over a connected socket: TLS, the WebSocket upgrade, or both in turn. Immutable and thread-safe.
/// </summary>
internal abstract class WireUpgrade
{
    /// <summary>The name of its first phase, as in "... was not complete within 30000 ms".</summary>
    public abstract string FirstPhase { get; }

    /// <summary>Why new connections use an outdated certificate, or null.</summary>
    public virtual string? Staleness => null;

    /// <summary>The time limit of each phase. Zero: no limit.</summary>
    protected abstract TimeSpan Limit { get; }

    /// <summary>
    /// Runs the handshake on pool threads, or on its own threads if there are callbacks. Certificates are checked, files read and callbacks
    /// called there. Errors of the peer, the network and cancellation are values. The socket belongs to the result, or is disposed, at the
    /// latest after its farewell.
    /// </summary>
    /// <param name="socket">The connected socket.</param>
    /// <param name="pool">The pool of its buffers and the wire's.</param>
    /// <param name="time">The clock of its limits.</param>
    /// <param name="waits">Notified when it waits for the peer, or null.</param>
    /// <param name="cancellation">Ends it, and its farewell.</param>
    public abstract Task<UpgradeResult> RunAsync(
        Socket socket, BufferPool pool, TimeProvider time, PeerWait? waits, CancellationToken cancellation);

    /// <summary>Starts the clock of a phase.</summary>
    public Deadline StartPhase(TimeProvider time, CancellationToken cancellation) =>
        new(Limit > TimeSpan.Zero ? Limit : Timeout.InfiniteTimeSpan, time, cancellation);

    /// <summary>The result of a failed phase: cancelled, timed out, or lost.</summary>
    public UpgradeResult ResultOf(string phase, Exception exception, Deadline deadline, CancellationToken cancellation) =>
        cancellation.IsCancellationRequested ? UpgradeResult.Cancelled
        : deadline.IsOver ? UpgradeResult.TimedOut(phase, Limit)
        : UpgradeResult.Lost(phase, exception);
}
