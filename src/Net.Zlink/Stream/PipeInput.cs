using System.Buffers;
using System.IO.Pipelines;
using System.Net.Sockets;
using System.Runtime.CompilerServices;
using Net.Zlink.Engine;
using Net.Zlink.Transports.WebSocket;

namespace Net.Zlink;

/// <summary>
/// An end without the peer's CLOSE is a failure after all received bytes: unlike frames, bytes do not show whether they are complete. The
/// underlying pipe cannot do it: when its writer reports a failure, its reader loses unread bytes.
/// </summary>
internal sealed class PipeInput(PipeConnection connection, WebSocketWire wire) : PipeReader
{
    private readonly PipeReader _inner = connection.Input;
    private ReadOnlySequence<byte> _last;
    private bool _isSeen;

    /// <inheritdoc/>
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    public override async ValueTask<ReadResult> ReadAsync(CancellationToken cancellationToken = default) =>
        Classify(await _inner.ReadAsync(cancellationToken).ConfigureAwait(false));

    /// <inheritdoc/>
    public override bool TryRead(out ReadResult result)
    {
        if (!_inner.TryRead(out result))
        {
            return false;
        }

        result = Classify(result);
        return true;
    }

    /// <inheritdoc/>
    public override void AdvanceTo(SequencePosition consumed) => AdvanceTo(consumed, consumed);

    /// <inheritdoc/>
    public override void AdvanceTo(SequencePosition consumed, SequencePosition examined)
    {
        _isSeen |= !_last.IsEmpty && _last.Slice(examined).IsEmpty;
        _last = default;
        _inner.AdvanceTo(consumed, examined);
    }

    /// <inheritdoc/>
    public override void CancelPendingRead() => _inner.CancelPendingRead();

    /// <inheritdoc/>
    public override void Complete(Exception? exception = null) => _inner.Complete(exception);

    /// <inheritdoc/>
    public override ValueTask CompleteAsync(Exception? exception = null) => _inner.CompleteAsync(exception);

    private ReadResult Classify(ReadResult result)
    {
        if (!result.IsCompleted || !wire.IsCutOff)
        {
            return result;
        }

        if (!result.IsCanceled && (result.Buffer.IsEmpty || _isSeen))
        {
            _inner.AdvanceTo(result.Buffer.Start);
            throw connection.Notify(new IOException("The connection was lost: the peer ended it without a CLOSE.",
                new SocketException((int)SocketError.ConnectionReset)));
        }

        _last = result.Buffer;
        return new ReadResult(result.Buffer, result.IsCanceled, isCompleted: false); // The failure follows.
    }
}
