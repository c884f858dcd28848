using System.Buffers;
using System.IO.Pipelines;
using System.Runtime.CompilerServices;

namespace Net.Zlink.Sockets;

/// <summary>
/// A failure comes after all received bytes, and unlike frames, bytes do not show whether they are complete. The underlying pipe cannot do
/// it: when its writer reports a failure, its reader loses unread bytes.
/// </summary>
internal sealed class PipeInput(PipeSink sink, PipeReader inner) : PipeReader
{
    private ReadOnlySequence<byte> _last;
    private bool _isSeen;

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    public override async ValueTask<ReadResult> ReadAsync(CancellationToken cancellationToken = default)
    {
        ValueTask<ReadResult> read = inner.ReadAsync(cancellationToken);
        if (!read.IsCompleted)
        {
            sink.FlushBeforeWait();
        }

        return Classify(await read.ConfigureAwait(false));
    }

    public override bool TryRead(out ReadResult result)
    {
        if (!inner.TryRead(out result))
        {
            return false;
        }

        result = Classify(result);
        return true;
    }

    public override void AdvanceTo(SequencePosition consumed) => AdvanceTo(consumed, consumed);

    public override void AdvanceTo(SequencePosition consumed, SequencePosition examined)
    {
        _isSeen |= !_last.IsEmpty && _last.Slice(examined).IsEmpty;
        _last = default;
        inner.AdvanceTo(consumed, examined);
    }

    public override void CancelPendingRead() => inner.CancelPendingRead();

    public override void Complete(Exception? exception = null)
    {
        inner.Complete();
        sink.OnInputUnread();
    }

    private ReadResult Classify(ReadResult result)
    {
        if (!result.IsCompleted || sink.InputFailure is not { } failure)
        {
            return result;
        }

        if (!result.IsCanceled && (result.Buffer.IsEmpty || _isSeen))
        {
            inner.AdvanceTo(result.Buffer.Start);
            throw failure;
        }

        _last = result.Buffer;
        return new ReadResult(result.Buffer, result.IsCanceled, isCompleted: false); // The failure follows.
    }
}
