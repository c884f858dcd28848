using System.Net.Sockets;
using Net.Zlink.Buffers;
using Net.Zlink.Monitoring;
using Net.Zlink.Transports;

namespace Net.Zlink.Engine;

/// <summary>Limits the transport handshakes of accepted connections. Others wait with nothing but their socket.</summary>
/// <remarks>
/// Only accepted connections count: otherwise two sockets of one context could wait for each other. A connection counts once its peer has
/// sent something, since in every transport the connecting side speaks first. A silent peer (a scanner, a probe) uses no slot and has the
/// time of one phase.
/// <para>A peer that stalls is preempted while others wait (<see cref="HandshakeSlots"/>): otherwise stalled peers could block everyone for
/// a phase.</para>
/// </remarks>
internal sealed class HandshakeLimiter(int maxRunning, TimeProvider time)
{
    /// <summary>
    /// A TLS handshake costs about 50 KB, so a flood of stalled clients holds 50 MB. A crowd of 10,000 waits for processors, not for slots.
    /// </summary>
    public const int Default = 1024;

    private readonly SemaphoreSlim _free = new(maxRunning, maxRunning);
    private readonly HandshakeSlots _slots = new(time);

    public int Running => maxRunning - _free.CurrentCount;

    /// <summary>Peers that have sent bytes and wait for a slot.</summary>
    public int Waiting => _slots.Waiting;

    public int Stalled => _slots.Stalled;

    /// <summary>Waits for the peer's first bytes and a slot, then runs the handshake. The task never fails.</summary>
    public async Task<UpgradeResult> RunAsync(WireUpgrade upgrade, Socket socket, BufferPool pool, CancellationToken cancellation)
    {
        // Begun on the accept loop's stack: the runtime spreads sockets over its polling threads by their first operation, so connections
        // spread evenly. In the order of handshakes, an echo over TLS had a p99 up to 50 % higher (docs/benchmarks/log.md).
        Task<UpgradeResult?> first = FirstBytesAsync(upgrade, socket, cancellation);
        bool hadToWait = !first.IsCompleted;
        UpgradeResult? failure = await first.ConfigureAwait(false);

        // The wait may have ended between those lines, on the accept loop's thread: then the connection gets any shard.
        int pollingThread = hadToWait && !Thread.CurrentThread.IsThreadPoolThread ? Environment.CurrentManagedThreadId : 0;

        // Leaves the stack of the accept loop or polling thread.
        await Task.CompletedTask.ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
        if (failure is { } early)
        {
            socket.Dispose();
            return early;
        }

        Task free = _free.WaitAsync(cancellation);
        if (!free.IsCompletedSuccessfully && !await WaitForSlotAsync(free).ConfigureAwait(false))
        {
            socket.Dispose();
            return UpgradeResult.Cancelled;
        }

        HandshakeSlots.HandshakeSlot slot = _slots.Acquire(cancellation);
        Task errorResponse = Task.CompletedTask;
        try
        {
            UpgradeResult result = await upgrade.RunAsync(socket, pool, time, slot.Waits, slot.Cancellation).ConfigureAwait(false);
            errorResponse = result.ErrorResponse ?? errorResponse;
            if (result.Wire is { PollingThread: 0 } wire)
            {
                wire.PollingThread = pollingThread; // The handshake completed synchronously.
            }

            return result is { Wire: null, Error: SocketError.OperationAborted } && slot.IsPreempted ? CreatePreemptedResult() : result;
        }
        finally
        {
            // A rejected peer that stays connected still holds its slot: a flood of them costs no more than one of slow peers.
            _ = RunDetachedAsync(slot, errorResponse);
        }
    }

    private async Task<bool> WaitForSlotAsync(Task free)
    {
        _slots.BeginWait();
        try
        {
            await free.ConfigureAwait(false);
            return true;
        }
        catch (OperationCanceledException)
        {
            return false;
        }
        finally
        {
            _slots.EndWait();
        }
    }

    private UpgradeResult CreatePreemptedResult() => new(null, HandshakeFailure.TimedOut, SocketError.TimedOut,
            $"the peer had kept its handshake waiting for {HandshakeSlots.GracePeriod.TotalMilliseconds:0} ms " +
            $"when others waited for its place (MaxHandshakes is {maxRunning})");

    /// <summary>Null: the first bytes arrived, or the peer's end, which the handshake then finds.</summary>
    private async Task<UpgradeResult?> FirstBytesAsync(WireUpgrade upgrade, Socket socket, CancellationToken cancellation)
    {
        using Deadline deadline = upgrade.StartPhase(time, cancellation);
        try
        {
            await socket.ReceiveAsync(Memory<byte>.Empty, SocketFlags.None, deadline.Token).ConfigureAwait(false);
            return null;
        }
        catch (Exception e) when (IoStreamErrors.IsOfStream(e))
        {
            return upgrade.ResultOf(upgrade.FirstPhase, e, deadline, cancellation);
        }
    }

    private async Task RunDetachedAsync(HandshakeSlots.HandshakeSlot slot, Task errorResponse)
    {
        await errorResponse.ConfigureAwait(false);
        slot.Release();
        _free.Release();
    }
}
