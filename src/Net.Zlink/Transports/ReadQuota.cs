using System.Runtime.CompilerServices;

namespace Net.Zlink.Transports;

/// <summary>How much one read of the engine's may go through on its caller's thread.</summary>
/// <remarks>
/// What a library keeps to itself ends no read of it: a WebSocket's PINGs, PONGs and frames of nothing, TLS' key updates. A peer that sends
/// nothing else would hold its reader's thread, a shard or a polling thread, for as long as it likes, since each read beneath ends at once.
/// For one reader at a time.
/// </remarks>
internal struct ReadQuota
{
    // Four times what is read at once, with which a read that brings something ends.
    private const int MaxBytesPerTurn = 128 * 1024;

    private int _used;

    /// <summary>A read of the engine's begins.</summary>
    public void Begin() => _used = 0;

    /// <summary>It has gone through so many bytes.</summary>
    public void Consume(int bytes) => _used += bytes;

    /// <summary>True, once: it has had its turn, and goes on elsewhere.</summary>
    public bool TryEnd()
    {
        if (_used <= MaxBytesPerTurn)
        {
            return false;
        }

        _used = 0;
        return true;
    }

    /// <summary>A read that goes on on the pool, behind what waits there.</summary>
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    public static async ValueTask<int> ReadElsewhereAsync(Stream stream, Memory<byte> buffer, CancellationToken cancellation)
    {
        await Task.CompletedTask.ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
        return await stream.ReadAsync(buffer, cancellation).ConfigureAwait(false);
    }
}
