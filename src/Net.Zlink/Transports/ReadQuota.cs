using System.Runtime.CompilerServices;
using Net.Zlink.Flow;

namespace Net.Zlink.Transports;

/// <summary>Limits what one read of the engine may process on its caller's thread.</summary>
/// <remarks>
/// A library's internal frames end none of its reads: PINGs, PONGs and empty frames of a WebSocket, key updates of TLS. A peer that sends
/// nothing else would hold the reader's thread as long as it likes. For one reader at a time.
/// </remarks>
internal struct ReadQuota
{
    // Four times what is read at once, which ends a read with data.
    private const int MaxBytesPerTurn = 128 * 1024;

    private int _used;

    /// <summary>A read of the engine begins.</summary>
    public void Begin() => _used = 0;

    public void Consume(int bytes) => _used += bytes;

    /// <summary>True, once: the quota is used up, and the read continues elsewhere.</summary>
    public bool TryEnd()
    {
        if (_used <= MaxBytesPerTurn)
        {
            return false;
        }

        _used = 0;
        return true;
    }

    /// <summary>A read that continues on the pool, behind what waits there.</summary>
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    public static async ValueTask<int> ReadElsewhereAsync(Stream stream, Memory<byte> buffer, CancellationToken cancellation)
    {
        await ThreadHop.ToBackOfPool;
        return await stream.ReadAsync(buffer, cancellation).ConfigureAwait(false);
    }
}
