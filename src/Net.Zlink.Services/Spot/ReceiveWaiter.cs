using System.Threading.Tasks.Sources;

namespace Net.Zlink.Services;

/// <summary>A receive that waits at a subscriber's queue: a reusable value-task source.</summary>
internal sealed class ReceiveWaiter(SubscriberQueue queue) : IValueTaskSource<SpotMessage>
{
    private ManualResetValueTaskSourceCore<SpotMessage> _core = new() { RunContinuationsAsynchronously = true };

    /// <summary>The neighbours in the queue of waiters, and in lists of spare ones. Guarded by the queue's lock.</summary>
    public ReceiveWaiter? Previous { get; set; }

    /// <inheritdoc cref="Previous"/>
    public ReceiveWaiter? Next { get; set; }

    /// <summary>It stands in the queue: who takes it out completes it.</summary>
    public bool IsWaiting { get; set; }

    /// <summary>Set before the task is returned to its caller.</summary>
    public CancellationTokenRegistration Registration { get; set; }

    public ValueTask<SpotMessage> Task => new(this, _core.Version);

    public void Complete(in SpotMessage message) => _core.SetResult(message);

    public void Fail(Exception exception) => _core.SetException(exception);

    public void Cancel(CancellationToken cancellationToken)
    {
        if (queue.TryRemove(this))
        {
            Fail(new OperationCanceledException(cancellationToken));
        }
    }

    public ValueTaskSourceStatus GetStatus(short token) => _core.GetStatus(token);

    public void OnCompleted(Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
        _core.OnCompleted(continuation, state, token, flags);

    public SpotMessage GetResult(short token)
    {
        if (_core.GetStatus(token) == ValueTaskSourceStatus.Pending)
        {
            throw new InvalidOperationException("The message was asked for before it came: await the task.");
        }

        Registration.Dispose(); // Waits for a cancel that is running, so that it cannot hit the next use of this object.
        Registration = default;
        try
        {
            return _core.GetResult(token);
        }
        finally
        {
            _core.Reset();
            queue.Recycle(this);
        }
    }
}
