using System.Runtime.CompilerServices;
using Net.Zlink.Flow;

namespace Net.Zlink.Transports;

/// <summary>
/// A library's internal frames end none of its reads: PINGs, PONGs and empty frames of a WebSocket, key updates of TLS. A peer that sends
/// nothing else would hold the reader's thread as long as it likes.
/// </summary>
internal struct ReadQuota
{
    private const int MaxBytesPerTurn = 128 * 1024;

    private int _used;

    public void Begin() => _used = 0;

    public void Consume(int bytes) => _used += bytes;

    public bool TryEnd()
    {
        if (_used <= MaxBytesPerTurn)
        {
            return false;
        }

        _used = 0;
        return true;
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    public static async ValueTask<int> ReadElsewhereAsync(Stream stream, Memory<byte> buffer, CancellationToken cancellation)
    {
        await ThreadHop.ToBackOfPool;
        return await stream.ReadAsync(buffer, cancellation).ConfigureAwait(false);
    }
}
