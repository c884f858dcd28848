namespace Net.Zlink.Sockets.Zmp;

/// <summary>
/// Lets a dialer wait for earlier dialers of the same endpoint that were disconnected and still deliver. So messages arrive in the order of
/// their sends, and a ROUTER never sees two connections with one routing id.
/// </summary>
/// <remarks>
/// Each knows only its predecessor, which begins no sooner than its own turn. So thousands of them cost one reference each. One that ends
/// before its turn passes its predecessor to its successor. Only the owner waits and ends; successors observe on any thread.
/// </remarks>
/// <param name="before">The predecessor. Null: it need not wait.</param>
/// <param name="time">The context's clock.</param>
/// <param name="writes">The number of writes of the owner's connection. Null: it has none.</param>
internal sealed class PredecessorWait(PredecessorWait? before, TimeProvider time, Func<long?> writes)
{
    private readonly TaskCompletionSource? _drained = before is null ? null : new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly TaskCompletionSource _completed = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private PredecessorWait? _predecessor = before; // Used by its owner only until it is settled, and unchanged from then on.

    public bool IsUnblocked => _predecessor is null;

    /// <summary>Completes when the owner makes no connection any more and the last one has ended.</summary>
    public Task Completion => _completed.Task;

    /// <summary>Waits for the predecessor.</summary>
    /// <param name="closeTimeout">How long a predecessor may write nothing before it is passed, as at any end of a connection.</param>
    /// <param name="ended">Cancels the owner.</param>
    /// <exception cref="OperationCanceledException">It was cancelled first.</exception>
    public async Task WaitAsync(TimeSpan closeTimeout, CancellationToken ended)
    {
        while (_predecessor is { } other)
        {
            await other.DrainedAsync(ended).ConfigureAwait(false);
            if (other.IsUnblocked)
            {
                await other.WaitUntilDrainedAsync(closeTimeout, ended).ConfigureAwait(false);
            }

            _predecessor = other._predecessor;
        }

        _drained?.TrySetResult();
    }

    /// <summary>The owner makes no connection any more and the last one has ended, or it never began.</summary>
    public void End()
    {
        _completed.SetResult();
        _drained?.TrySetResult();
    }

    /// <summary>Completes when the turn has come, or never will.</summary>
    private Task DrainedAsync(CancellationToken ended) => _drained is null ? Task.CompletedTask : _drained.Task.WaitAsync(ended);

    /// <summary>
    /// Completes when the predecessor has delivered its messages. If its connection writes nothing, after the usual time for the end of a
    /// connection.
    /// </summary>
    private async Task WaitUntilDrainedAsync(TimeSpan closeTimeout, CancellationToken ended)
    {
        // CloseTimeout can be zero, which is no interval between two checks.
        var patience = TimeSpan.FromTicks(Math.Max(closeTimeout.Ticks, TimeSpan.TicksPerSecond));
        long? seen;
        do
        {
            seen = writes();
            await Completion.WaitAsync(patience, time, ended).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            ended.ThrowIfCancellationRequested();
        }
        while (!Completion.IsCompleted && (seen is null || seen != writes()));
    }
}
