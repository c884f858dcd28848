using System.Net.Sockets;
using Net.Zlink.Buffers;
using Net.Zlink.Monitoring;
using Net.Zlink.Transports;

namespace Net.Zlink.Engine;

/// <summary>
/// Limits the transport handshakes of accepted connections. Only accepted connections count: otherwise two sockets of one context could
/// wait for each other. A silent peer (a scanner, a probe) uses no slot and has the time of one phase. The newest waiter is served first,
/// and a peer that stalls is preempted while others wait (<see cref="HandshakeSlots"/>): otherwise stalled peers could block everyone.
/// </summary>
internal sealed class HandshakeLimiter(int maxRunning, TimeProvider time)
{
    /// <summary>A TLS handshake costs about 50 KB, so a flood of stalled clients holds 50 MB.</summary>
    public const int Default = 1024;

    public HandshakeSlots Slots { get; } = new(maxRunning, time);

    public async Task<UpgradeResult> RunAsync(WireUpgrade upgrade, KernelWire raw, BufferPool pool, CancellationToken cancellation)
    {
        Socket socket = raw.Socket;
        // Begun on the accept loop's stack: the runtime spreads sockets over its polling threads by their first operation, so connections
        // spread evenly. In the order of handshakes, an echo over TLS had a p99 up to 50 % higher (docs/benchmarks/log.md).
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

        if ((Slots.TryAcquire(socket, cancellation)
            ?? await WaitForSlotAsync(upgrade, socket, cancellation).ConfigureAwait(false)) is not { } slot)
        {
            socket.Dispose();
            return cancellation.IsCancellationRequested ? UpgradeResult.Cancelled : CreateSlotlessResult();
        }

        Task errorResponse = Task.CompletedTask;
        try
        {
            UpgradeResult result = await upgrade.RunAsync(raw, pool, time, slot.Waits, slot.Cancellation).ConfigureAwait(false);
            errorResponse = result.ErrorResponse ?? errorResponse;
            if (result.Wire is { } wire)
            {
                Slots.CountCompleted(slot);
                wire.PollingThread = wire.PollingThread == 0 ? pollingThread : wire.PollingThread;
                return result;
            }

            return result.Error == SocketError.OperationAborted && slot.IsPreempted ? CreatePreemptedResult(slot.Grace) : result;
        }
        finally
        {
            // A rejected peer that stays connected still holds its slot: a flood of them costs no more than one of slow peers.
            _ = RunDetachedAsync(slot, errorResponse);
        }
    }

    private async Task<HandshakeSlots.HandshakeSlot?> WaitForSlotAsync(
        WireUpgrade upgrade, Socket socket, CancellationToken cancellation)
    {
        using Deadline deadline = upgrade.StartSlotWait(time, cancellation);
        return await Slots.AcquireAsync(socket, deadline.Token, cancellation).ConfigureAwait(false);
    }

    private UpgradeResult CreatePreemptedResult(TimeSpan grace) => new(null, HandshakeFailure.TimedOut, SocketError.TimedOut,
            $"the peer had delayed its handshake for {grace.TotalMilliseconds:0} ms " +
            $"while others waited for a slot (MaxHandshakes is {maxRunning})");

    private UpgradeResult CreateSlotlessResult() => new(null, HandshakeFailure.TimedOut, SocketError.TimedOut,
            $"all handshake slots stayed in use (MaxHandshakes is {maxRunning})");

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

    private static async Task RunDetachedAsync(HandshakeSlots.HandshakeSlot slot, Task errorResponse)
    {
        await errorResponse.ConfigureAwait(false);
        slot.Release();
    }
}
