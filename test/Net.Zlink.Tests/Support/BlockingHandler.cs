using Net.Zlink.Monitoring;

namespace Net.Zlink.Tests.Support;

/// <summary>A handler with a bug: in one of its methods it blocks its shard until a gate opens.</summary>
/// <param name="method">Which: connected, received or disconnected.</param>
internal sealed class BlockingHandler(string method) : StreamHandler, IDisposable
{
    private readonly ManualResetEventSlim _gate = new();
    private readonly SemaphoreSlim _entered = new(0);
    private readonly TaskCompletionSource<DisconnectReason> _ended = new(TaskCreationOptions.RunContinuationsAsynchronously);

    /// <summary>Sent before it blocks.</summary>
    public byte[]? Answer { get; init; }

    /// <summary>How the first peer ended.</summary>
    public Task<DisconnectReason> Ended => _ended.Task;

    /// <summary>Completes when it blocks, once for each time.</summary>
    public Task EnteredAsync() => _entered.WaitAsync(Guard.Token).Guarded();

    /// <summary>It returns, and does not block any more.</summary>
    public void Open() => _gate.Set();

    /// <summary>It blocks the next time.</summary>
    public void Close() => _gate.Reset();

    public override void OnConnected(StreamPeer peer) => Hold("connected");

    public override ValueTask OnReceivedAsync(StreamPeer peer, StreamFrames frames)
    {
        if (Answer is not null)
        {
            peer.TrySend(Answer);
        }

        Hold("received");
        return ValueTask.CompletedTask;
    }

    public override void OnDisconnected(StreamPeer peer, DisconnectReason reason)
    {
        Hold("disconnected");
        _ended.TrySetResult(reason);
    }

    /// <summary>Opens the gate too, for a test that failed before it did.</summary>
    public void Dispose() => _gate.Set();

    private void Hold(string called)
    {
        if (string.Equals(called, method, StringComparison.Ordinal))
        {
            _entered.Release();
            _gate.Wait();
        }
    }
}
