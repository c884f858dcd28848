namespace Net.Zlink.Conformance.Tests.Replay.Played;

/// <summary>Tells whoever waits that something changed. Take <see cref="Next"/> before looking, so that no change is missed.</summary>
internal sealed class Signal
{
    private TaskCompletionSource _next = New();

    public Task Next => Volatile.Read(ref _next).Task;

    public void Set() => Interlocked.Exchange(ref _next, New()).TrySetResult();

    private static TaskCompletionSource New() => new(TaskCreationOptions.RunContinuationsAsynchronously);
}
