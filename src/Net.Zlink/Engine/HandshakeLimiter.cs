using System.Net.Sockets;
using Net.Zlink.Buffers;
using Net.Zlink.Monitoring;
using Net.Zlink.Transports;

namespace Net.Zlink.Engine;

/// <summary>
/// Limits the transport handshakes of accepted connections. Only accepted connections count: otherwise two sockets of one context could
/// wait for each other. A silent peer (a scanner, a probe) uses no slot and has the time of one phase. A peer that stalls is preempted
/// while others wait (<see cref="HandshakeSlots"/>): otherwise stalled peers could block everyone for a phase.
/// </summary>
internal sealed class HandshakeLimiter(int maxRunning, TimeProvider time)
{
    /// <summary>A TLS handshake costs about 50 KB, so a flood of stalled clients holds 50 MB.</summary>
    public const int Default = 1024;

    private readonly SemaphoreSlim _free = new(maxRunning, maxRunning);
    private readonly HandshakeSlots _slots = new(time);

    public int Running => maxRunning - _free.CurrentCount;

    public int Waiting => _slots.Waiting;

    public int Stalled => _slots.Stalled;

    public async Task<UpgradeResult> RunAsync(WireUpgrade upgrade, Socket socket, BufferPool pool, CancellationToken cancellation)
    {
        // Begun on the accept loop's stack: the runtime spreads sockets over its polling threads by their first operation, so connections
        // spread evenly.
        Task<UpgradeResult?> first = FirstBytesAsync(upgrade, socket, cancellation);
        bool hadToWait = !first.IsCompleted;
        UpgradeResult? failure = await first.ConfigureAwait(false);

        int pollingThread = hadToWait && !Thread.CurrentThread.IsThreadPoolThread ? Environment.CurrentManagedThreadId : 0;

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
                wire.PollingThread = pollingThread;
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
