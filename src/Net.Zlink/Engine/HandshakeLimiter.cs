using System.Net.Sockets;
using Net.Zlink.Buffers;
using Net.Zlink.Monitoring;
using Net.Zlink.Transports;

namespace Net.Zlink.Engine;

/// <summary>Accepted connections on their way through their transport's handshake: so many of a context at once, the others wait in line with nothing but their socket.</summary>
/// <remarks>
/// Only accepted ones: if those that this process makes took places too, two sockets of one context could wait for each other. And only those that have spoken: in every transport the side that connects speaks
/// first, so a silent one (a scanner, a probe of a load balancer, a crowd that means harm) takes no place, and has the time of one phase to begin.
/// <para>A peer that begins and does not go on gives way to those that wait in line (<see cref="HandshakeSlots"/>): otherwise as many of them as there are places would keep everybody out for as long as a phase may take.</para>
/// </remarks>
/// <param name="most">How many run at once.</param>
/// <param name="time">The clock.</param>
internal sealed class HandshakeLimiter(int most, TimeProvider time)
{
    /// <summary>
    /// TLS costs about 50 KB while it shakes hands, so a flood of clients that never finish holds 50 MB; and a connecting crowd of 10,000 waits for processors, not for places.
    /// </summary>
    public const int Default = 1024;

    private readonly SemaphoreSlim _free = new(most, most);
    private readonly HandshakeSlots _slots = new(time);

    /// <summary>How many run now.</summary>
    public int Running => most - _free.CurrentCount;

    /// <summary>How many have spoken and wait for a place.</summary>
    public int Waiting => _slots.Waiting;

    /// <inheritdoc cref="HandshakeSlots.Stalled"/>
    public int Stalled => _slots.Stalled;

    /// <summary>Waits for the peer's first bytes, then for a place, and runs a handshake. The task never fails.</summary>
    public async Task<UpgradeResult> RunAsync(WireUpgrade upgrade, Socket socket, BufferPool pool, CancellationToken cancellation)
    {
        // Begun on the accept loop's stack: the runtime spreads sockets over its polling threads as their first operations come, so peers that connect in turn are spread evenly. In the order in which their handshakes
        // happened to run, an echo over TLS had a p99 up to a half higher (docs/benchmarks/log.md).
        Task<UpgradeResult?> first = FirstBytesAsync(upgrade, socket, cancellation);
        bool hadToWait = !first.IsCompleted;
        UpgradeResult? failure = await first.ConfigureAwait(false);

        // Between the two lines above it may have ended after all, and this be the accept loop's thread: then the connection gets some shard, as without a note.
        int pollingThread = hadToWait && !Thread.CurrentThread.IsThreadPoolThread ? Environment.CurrentManagedThreadId : 0;

        // Off the stack of whoever brought the news, the accept loop or a polling thread.
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
                wire.PollingThread = pollingThread; // It said all it had to say at once.
            }

            return result is { Wire: null, Error: SocketError.OperationAborted } && slot.IsPreempted ? CreatePreemptedResult() : result;
        }
        finally
        {
            _ = RunDetachedAsync(slot, errorResponse); // A refused peer that does not leave keeps its place: a flood of them costs no more than one of slow ones.
        }
    }

    /// <summary>False: cancelled.</summary>
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
        $"the peer had kept its handshake waiting for {HandshakeSlots.GracePeriod.TotalMilliseconds:0} ms when others waited for its place (MaxHandshakes is {most})");

    /// <summary>Null: they are there, or the peer's end is, which the handshake then meets.</summary>
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
