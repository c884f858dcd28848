using System.Net.Sockets;
using Net.Zlink.Buffers;
using Net.Zlink.Monitoring;

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
        SocketWire raw, BufferPool pool, TimeProvider time, PeerWait? waits, CancellationToken cancellation);

    public Deadline StartPhase(TimeProvider time, CancellationToken cancellation) =>
        new(Limit > TimeSpan.Zero ? Limit : Timeout.InfiniteTimeSpan, time, cancellation);

    /// <summary>Null if the connection is lost already; the socket is then disposed.</summary>
    protected static WireStream? TryOpen(Socket socket, BufferPool pool, out UpgradeResult failure)
    {
        try
        {
            failure = default;
            socket.Blocking = true; // The stream requires it; its asynchronous operations never block.
            return new WireStream(socket, pool);
        }
        catch (Exception e) when (IoStreamErrors.IsOfStream(e))
        {
            socket.Dispose();
            failure = UpgradeResult.Lost("the handshake", e);
            return null;
        }
    }

    public TimeSpan SlotWait => Limit > TimeSpan.Zero ? Limit : DefaultSlotWait;

    public UpgradeResult ResultOf(string phase, Exception exception, Deadline deadline, CancellationToken cancellation) =>
        cancellation.IsCancellationRequested ? UpgradeResult.Cancelled
        : deadline.IsOver ? UpgradeResult.TimedOut(phase, Limit)
        : UpgradeResult.Lost(phase, exception);
}

/// <summary><paramref name="Sentence"/>: what happened and what to do, in lower case without a full stop.</summary>
internal readonly record struct UpgradeResult(Wire? Wire, HandshakeFailure Cause, SocketError Error, string Sentence)
{
    /// <summary>After a reported failure: runs until the peer has ended its side, or a time limit.</summary>
    public Task? ErrorResponse { get; init; }

    public static UpgradeResult Of(Wire wire) => new(wire, default, SocketError.Success, "");

    public static UpgradeResult Cancelled { get; } =
        new(null, HandshakeFailure.Lost, SocketError.OperationAborted, "the socket was closed during the handshake");

    public static UpgradeResult Lost(string what, Exception exception) =>
        new(null, HandshakeFailure.Lost, IoStreamErrors.ErrorOf(exception),
            $"the connection was lost during {what}: {IoStreamErrors.WordsOf(exception)}");

    public static UpgradeResult TimedOut(string what, TimeSpan limit) =>
        new(null, HandshakeFailure.TimedOut, SocketError.TimedOut, $"{what} was not complete within {limit.TotalMilliseconds:0} ms");
}
