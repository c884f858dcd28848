namespace Net.Zlink.Sockets.Endpoints;

/// <summary>
/// Lets a dialer wait for earlier dialers of the same endpoint that were disconnected and still deliver. So messages arrive in the order of
/// their sends, and a ROUTER never sees two connections with one routing id. One that ends before its turn passes its predecessor to its
/// successor.
/// </summary>
internal sealed class PredecessorWait(PredecessorWait? before, TimeProvider time, Func<long?> writes)
{
    private readonly TaskCompletionSource? _drained = before is null ? null : new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly TaskCompletionSource _completed = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private PredecessorWait? _predecessor = before;

    public bool IsUnblocked => _predecessor is null;

    public Task Completion => _completed.Task;

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

    public void End()
    {
        _completed.SetResult();
        _drained?.TrySetResult();
    }

    private Task DrainedAsync(CancellationToken ended) => _drained is null ? Task.CompletedTask : _drained.Task.WaitAsync(ended);

    /// <summary>A predecessor whose connection writes nothing is passed after the usual time for the end of a connection.</summary>
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
