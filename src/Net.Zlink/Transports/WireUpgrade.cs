using Net.Zlink.Buffers;

namespace Net.Zlink.Transports;

internal abstract class WireUpgrade
{
    /// <summary>How long a connection without a limit of its own waits for a slot: those that hold the slots may never finish.</summary>
    public static readonly TimeSpan DefaultSlotWait = TimeSpan.FromSeconds(30);

    public abstract string FirstPhase { get; }

    public virtual string? Staleness => null;

    protected abstract TimeSpan Limit { get; }

    /// <summary>
    /// Certificates are checked, files read and callbacks called there. Errors of the peer, the network and cancellation are values. The
    /// socket of <paramref name="raw"/> belongs to the result, or is disposed, at the latest after its farewell.
    /// </summary>
    public abstract Task<UpgradeResult> RunAsync(
        KernelWire raw, BufferPool pool, TimeProvider time, PeerWait? waits, CancellationToken cancellation);

    public Deadline StartPhase(TimeProvider time, CancellationToken cancellation) =>
        new(Limit > TimeSpan.Zero ? Limit : Timeout.InfiniteTimeSpan, time, cancellation);

    public Deadline StartSlotWait(TimeProvider time, CancellationToken cancellation) =>
        new(Limit > TimeSpan.Zero ? Limit : DefaultSlotWait, time, cancellation);

    public UpgradeResult ResultOf(string phase, Exception exception, Deadline deadline, CancellationToken cancellation) =>
        cancellation.IsCancellationRequested ? UpgradeResult.Cancelled
        : deadline.IsOver ? UpgradeResult.TimedOut(phase, Limit)
        : UpgradeResult.Lost(phase, exception);
}
