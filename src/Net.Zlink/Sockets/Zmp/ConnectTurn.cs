namespace Net.Zlink.Sockets.Zmp;

/// <summary>
/// One connecter's place in the line of those of the same endpoint that one socket was told to connect to, let go of, and connect to anew. It begins when those before it have delivered what they had: so messages arrive
/// in the order in which they were sent, and a ROUTER that knows the one's connection has no place for another one of the same routing id.
/// </summary>
/// <remarks>
/// Each knows the one before it only, which begins no sooner than its own turn comes: a line of thousands costs each of them one reference, and one look now and then at the only one that may be under way. One that ends before
/// its turn leaves those before it to the next in line. Its owner alone waits and ends, those behind it look on: on any thread.
/// </remarks>
/// <param name="before">The one in front; null: there is none, the turn has come.</param>
/// <param name="time">The context's clock.</param>
/// <param name="writes">How often the owner's connection has written; null while it has none: then this endpoint has nobody to talk to, whoever dials.</param>
internal sealed class ConnectTurn(ConnectTurn? before, TimeProvider time, Func<long?> writes)
{
    private readonly TaskCompletionSource? _settled = before is null ? null : new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly TaskCompletionSource _over = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private ConnectTurn? _before = before; // Its owner's alone until it is settled; from then on it stays as it is.

    /// <summary>Nobody is in front, or nobody any more.</summary>
    public bool HasCome => _before is null;

    /// <summary>Completes when the owner makes no connection any more, and the last one is over.</summary>
    public Task Over => _over.Task;

    /// <summary>Waits for the turn.</summary>
    /// <param name="closeTimeout">How long one in front may take nothing off the owner's hands before it is passed by: as long as any end of a connection gets.</param>
    /// <param name="ended">The owner is not to begin any more.</param>
    /// <exception cref="OperationCanceledException">It was cancelled before the turn came.</exception>
    public async Task ComesAsync(TimeSpan closeTimeout, CancellationToken ended)
    {
        while (_before is { } other)
        {
            await other.SettledAsync(ended).ConfigureAwait(false);
            if (other.HasCome)
            {
                await other.WhenStillAsync(closeTimeout, ended).ConfigureAwait(false);
            }

            _before = other._before;
        }

        _settled?.TrySetResult();
    }

    /// <summary>The owner makes no connection any more, and the last one is over, be it that it has never begun.</summary>
    public void End()
    {
        _over.SetResult();
        _settled?.TrySetResult();
    }

    /// <summary>Completes when the turn has come, or will not.</summary>
    private Task SettledAsync(CancellationToken ended) => _settled is null ? Task.CompletedTask : _settled.Task.WaitAsync(ended);

    /// <summary>Completes when it has delivered what it had; where its connection takes nothing, when it has been given as long as any end of a connection gets.</summary>
    private async Task WhenStillAsync(TimeSpan closeTimeout, CancellationToken ended)
    {
        var patience = TimeSpan.FromTicks(Math.Max(closeTimeout.Ticks, TimeSpan.TicksPerSecond)); // Zero is a CloseTimeout, and no pause between two looks.
        long? seen;
        do
        {
            seen = writes();
            await Over.WaitAsync(patience, time, ended).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            ended.ThrowIfCancellationRequested();
        }
        while (!Over.IsCompleted && (seen is null || seen != writes()));
    }
}
