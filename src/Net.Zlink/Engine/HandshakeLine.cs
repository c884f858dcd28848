using System.Net.Sockets;
using Net.Zlink.Buffers;
using Net.Zlink.Transports;

namespace Net.Zlink.Engine;

/// <summary>Accepted connections on their way through their transport's handshake: so many of a context at once, the others wait in line with nothing but their socket.</summary>
/// <remarks>
/// Only accepted ones: if those that this process makes took places too, two sockets of one context could wait for each other. And only those that have spoken: in every transport the side that connects speaks
/// first, so a silent one (a scanner, a probe of a load balancer, a crowd that means harm) takes no place, and has the time of one phase to begin.
/// </remarks>
/// <param name="most">How many run at once.</param>
internal sealed class HandshakeLine(int most)
{
    /// <summary>
    /// TLS costs about 50 KB while it shakes hands, so a flood of clients that never finish holds 50 MB; and a connecting crowd of 10,000 waits for processors, not for places.
    /// </summary>
    public const int Default = 1024;

    private readonly SemaphoreSlim _places = new(most, most);
    private int _waiting;

    /// <summary>How many run now.</summary>
    public int Running => most - _places.CurrentCount;

    /// <summary>How many have spoken and wait for a place.</summary>
    public int Waiting => Volatile.Read(ref _waiting);

    /// <summary>Waits for the peer's first bytes, then for a place, and runs a handshake. The task never fails.</summary>
    public async Task<UpgradeResult> RunAsync(WireUpgrade upgrade, Socket socket, BufferPool pool, TimeProvider time, CancellationToken cancellation)
    {
        // Begun on the accept loop's stack: the runtime spreads sockets over its polling threads as their first operations come, so peers that connect in turn are spread evenly. In the order in which their handshakes
        // happened to run, an echo over TLS had a p99 up to a half higher (docs/benchmarks/log.md).
        Task<UpgradeResult?> first = FirstBytesAsync(upgrade, socket, time, cancellation);
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

        Interlocked.Increment(ref _waiting);
        try
        {
            await _places.WaitAsync(cancellation).ConfigureAwait(false);
        }
        catch (OperationCanceledException)
        {
            socket.Dispose();
            return UpgradeResult.Cancelled;
        }
        finally
        {
            Interlocked.Decrement(ref _waiting);
        }

        Task? farewell = null;
        try
        {
            UpgradeResult result = await upgrade.RunAsync(socket, pool, time, cancellation).ConfigureAwait(false);
            farewell = result.Farewell;
            if (result.Wire is { PollingThread: 0 } wire)
            {
                wire.PollingThread = pollingThread; // It said all it had to say at once.
            }

            return result;
        }
        finally
        {
            if (farewell is null)
            {
                _places.Release();
            }
            else
            {
                _ = ReleaseBehindAsync(farewell); // A refused peer that does not leave keeps its place: a flood of them costs no more than one of slow ones.
            }
        }
    }

    /// <summary>Null: they are there, or the peer's end is, which the handshake then meets.</summary>
    private static async Task<UpgradeResult?> FirstBytesAsync(WireUpgrade upgrade, Socket socket, TimeProvider time, CancellationToken cancellation)
    {
        using Deadline deadline = upgrade.StartPhase(time, cancellation);
        try
        {
            await socket.ReceiveAsync(Memory<byte>.Empty, SocketFlags.None, deadline.Token).ConfigureAwait(false);
            return null;
        }
        catch (Exception e) when (StreamFaults.IsOfStream(e))
        {
            return upgrade.ResultOf(upgrade.FirstPhase, e, deadline, cancellation);
        }
    }

    private async Task ReleaseBehindAsync(Task farewell)
    {
        await farewell.ConfigureAwait(false);
        _places.Release();
    }
}
