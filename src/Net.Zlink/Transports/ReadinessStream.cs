using System.Net.Sockets;
using System.Runtime.CompilerServices;

namespace Net.Zlink.Transports;

/// <summary>A socket's stream whose reads of no bytes end when there is something to read, not before.</summary>
/// <remarks>
/// TLS and WebSocket wait with a read of no bytes, and then read into a buffer of their own: 16 to 32 KB, held until something comes. On Unix the runtime ends such a wait at the system's report, even if that report
/// is about bytes that were read already; of 3,000 idle connections 34 then held their buffer for good. A second wait looks before it waits: it ends at once if and only if there is something (or the peer has ended).
/// </remarks>
/// <param name="socket">Connected; owned.</param>
internal sealed class ReadinessStream(Socket socket) : NetworkStream(socket, ownsSocket: true)
{
    /// <inheritdoc/>
    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        ValueTask<int> read = base.ReadAsync(buffer, cancellationToken);

        // Windows reports what is there, and may report it late each time.
        return read.IsCompleted || !buffer.IsEmpty || OperatingSystem.IsWindows() ? read : WaitAsync(read, cancellationToken);
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    private async ValueTask<int> WaitAsync(ValueTask<int> wait, CancellationToken cancellation)
    {
        while (true)
        {
            await wait.ConfigureAwait(false);
            ValueTask<int> again = base.ReadAsync(Memory<byte>.Empty, cancellation);
            if (again.IsCompleted)
            {
                return await again.ConfigureAwait(false);
            }

            wait = again;
        }
    }
}
