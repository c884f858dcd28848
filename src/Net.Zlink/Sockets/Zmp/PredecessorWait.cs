namespace Net.Zlink.Sockets.Zmp;

/// <summary>
/// One connecter's place in the line of those of the same endpoint that one socket was told to connect to, let go of, and connect to anew.
/// It begins when those before it have delivered what they had: so messages arrive in the order in which they were sent, and a ROUTER that
/// knows the one's connection has no place for another one of the same routing id.
/// </summary>
/// <remarks>
/// Each knows the one before it only, which begins no sooner than its own turn comes: a line of thousands costs each of them one reference,
/// and one look now and then at the only one that may be under way. One that ends before its turn leaves those before it to the next in
/// line. Its owner alone waits and ends, those behind it look on: on any thread.
/// </remarks>
/// <param name="before">The one in front; null: there is none, the turn has come.</param>
/// <param name="time">The context's clock.</param>
/// <param name="writes">How often the owner's connection has written; null while it has none: then this endpoint has nobody to talk to,
/// whoever dials.</param>
internal sealed class PredecessorWait(PredecessorWait? before, TimeProvider time, Func<long?> writes)
{
    private readonly TaskCompletionSource? _drained = before is null ? null : new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly TaskCompletionSource _completed = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private PredecessorWait? _predecessor = before; // Its owner's alone until it is settled; from then on it stays as it is.

    /// <summary>Nobody is in front, or nobody any more.</summary>
    public bool IsUnblocked => _predecessor is null;

    /// <summary>Completes when the owner makes no connection any more, and the last one is over.</summary>
    public Task Completion => _completed.Task;

    /// <summary>Waits for the turn.</summary>
    /// <param name="closeTimeout">How long one in front may take nothing off the owner's hands before it is passed by: as long as any end
    /// of a connection gets.</param>
    /// <param name="ended">The owner is not to begin any more.</param>
    /// <exception cref="OperationCanceledException">It was cancelled before the turn came.</exception>
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

    /// <summary>The owner makes no connection any more, and the last one is over, be it that it has never begun.</summary>
    public void End()
    {
        _completed.SetResult();
        _drained?.TrySetResult();
    }

    /// <summary>Completes when the turn has come, or will not.</summary>
    private Task DrainedAsync(CancellationToken ended) => _drained is null ? Task.CompletedTask : _drained.Task.WaitAsync(ended);

    /// <summary>Completes when it has delivered what it had; where its connection takes nothing, when it has been given as long as any end
    /// of a connection gets.</summary>
    private async Task WaitUntilDrainedAsync(TimeSpan closeTimeout, CancellationToken ended)
    {
        // Zero is a CloseTimeout, and no pause between two looks.
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
