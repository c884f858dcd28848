using System.IO.Pipelines;

namespace Net.Zlink.AspNetCore.Transport;

/// <summary>
/// The server takes an exception of a flush for a fault of the transport, and logs it as an error. So a lost connection is the end of the
/// reader here, as it is in the server's own transport.
/// </summary>
internal sealed class TransportOutput(PipeWriter inner) : PipeWriter
{
    /// <inheritdoc/>
    public override bool CanGetUnflushedBytes => inner.CanGetUnflushedBytes;

    /// <inheritdoc/>
    public override long UnflushedBytes => inner.UnflushedBytes;

    /// <inheritdoc/>
    public override void Advance(int bytes) => inner.Advance(bytes);

    /// <inheritdoc/>
    public override Memory<byte> GetMemory(int sizeHint = 0) => inner.GetMemory(sizeHint);

    /// <inheritdoc/>
    public override Span<byte> GetSpan(int sizeHint = 0) => inner.GetSpan(sizeHint);

    /// <inheritdoc/>
    public override void CancelPendingFlush() => inner.CancelPendingFlush();

    /// <inheritdoc/>
    public override void Complete(Exception? exception = null) => inner.Complete(exception);

    /// <inheritdoc/>
    public override ValueTask<FlushResult> FlushAsync(CancellationToken cancellationToken = default) =>
        EndOf(inner.FlushAsync(cancellationToken));

    /// <inheritdoc/>
    public override ValueTask<FlushResult> WriteAsync(ReadOnlyMemory<byte> source, CancellationToken cancellationToken = default) =>
        EndOf(inner.WriteAsync(source, cancellationToken));

    private static ValueTask<FlushResult> EndOf(ValueTask<FlushResult> flush)
    {
        return flush.IsCompletedSuccessfully ? flush : WaitAsync(flush);

        static async ValueTask<FlushResult> WaitAsync(ValueTask<FlushResult> flush)
        {
            try
            {
                return await flush.ConfigureAwait(false);
            }
            catch (IOException)
            {
                return new FlushResult(isCanceled: false, isCompleted: true);
            }
        }
    }
}
