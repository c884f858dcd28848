using System.IO.Pipelines;
using System.Runtime.CompilerServices;

namespace Net.Zlink.Transports.Pipes;

/// <summary>A write is over when the pipe has taken it: that is how a pipe that is full holds back its writer.</summary>
internal sealed class PipeWriting(PipeWire wire, PipeWriter writer) : PipeHalf
{
    private ReadOnlyMemory<byte> _bytes;
    private bool _isEnding;
    private bool _isCut; // Bytes that were to be written are not, or not all of them.

    public bool TrySend(ReadOnlyMemory<byte> bytes)
    {
        _bytes = bytes;
        _isCut = true;
        return TryBegin();
    }

    public bool TryEnd()
    {
        _isEnding = true;
        return TryBegin();
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
    protected override async ValueTask RunAsync()
    {
        FlushResult result = await OffCallerAsync(_isEnding ? EndAsync() : writer.WriteAsync(_bytes, CancellationToken.None))
            .ConfigureAwait(false);
        _bytes = default;
        _isCut = result.IsCanceled;
        Failure = result.IsCompleted ? new IOException("its other side does not read any more") : null;
    }

    protected override void Cancel() => writer.CancelPendingFlush();

    /// <summary>Completing in order would wait for bytes that a cancelled flush has left.</summary>
    protected override void Complete(Exception? reason) => writer.Complete(_isCut ? reason ?? new OperationCanceledException() : reason);

    protected override void Notify()
    {
        if (_isEnding)
        {
            wire.Sink.OnEnded();
        }
        else
        {
            wire.Sink.OnSent();
        }
    }

    private async ValueTask<FlushResult> EndAsync()
    {
        await writer.CompleteAsync().ConfigureAwait(false);
        return default;
    }
}
