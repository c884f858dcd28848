using System.IO.Pipelines;
using System.Runtime.CompilerServices;
using Net.Zlink.Flow;

namespace Net.Zlink.Transports.Pipes;

/// <summary>A write is over when the pipe has taken it: that is how a pipe that is full holds back its writer.</summary>
internal sealed class PipeWriting(PipeWire wire, PipeWriter writer) : PipeHalf
{
    private ConfiguredValueTaskAwaitable<FlushResult>.ConfiguredValueTaskAwaiter _writing;
    private ConfiguredValueTaskAwaitable.ConfiguredValueTaskAwaiter _ending;
    private ReadOnlyMemory<byte> _bytes;
    private bool _isEnding;
    private bool _isCut;

    public bool TrySend(ReadOnlyMemory<byte> bytes)
    {
        _bytes = bytes;
        return TryBegin();
    }

    public bool TryEnd()
    {
        _isEnding = true;
        return TryBegin();
    }

    protected override bool Begin()
    {
        if (_isEnding)
        {
            _ending = Awaiters.Of(writer.CompleteAsync());
            return _ending.IsCompleted;
        }

        _writing = Awaiters.Of(writer.WriteAsync(_bytes, CancellationToken.None));
        return _writing.IsCompleted;
    }

    protected override void OnCompleted(Action continuation)
    {
        if (_isEnding)
        {
            _ending.UnsafeOnCompleted(continuation);
        }
        else
        {
            _writing.UnsafeOnCompleted(continuation);
        }
    }

    protected override bool Finish()
    {
        if (_isEnding)
        {
            _ending.GetResult();
            return true;
        }

        _bytes = default;
        FlushResult result = _writing.GetResult();
        _isCut = result.IsCanceled;
        Failure = result.IsCompleted ? new IOException("its other side does not read any more") : null;
        return true;
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
}
