using System.Text;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests;

/// <summary>Requests without a pause from several tasks, each reply checked. Disposal ends it, and fails the test if a request
/// failed.</summary>
internal sealed class RequestLoad : IAsyncDisposable
{
    private const int Senders = 8;

    private readonly CancellationTokenSource _stop = new();
    private readonly ServiceClient _client;
    private readonly Task _load;
    private long _answered;
    private Goal? _goal;

    public RequestLoad(ServiceClient client)
    {
        _client = client;
        _load = Task.WhenAll(Enumerable.Range(0, Senders).Select(sender => Task.Run(() => SendAsync(sender))));
    }

    public long Answered => Interlocked.Read(ref _answered);

    /// <summary>Waits for so many more replies, or for the failure of a request.</summary>
    public async Task UntilAnsweredAsync(long more)
    {
        var goal = new Goal(Answered + more);
        Volatile.Write(ref _goal, goal);
        SignalGoal();
        await await Task.WhenAny(goal.Reached.Task, _load).WaitAsync(3 * Guard.Limit, Guard.Token);
    }

    public async ValueTask DisposeAsync()
    {
        await _stop.CancelAsync();
        await _load.Guarded();
        _stop.Dispose();
    }

    private async Task SendAsync(int sender)
    {
        for (int i = 0; !_stop.IsCancellationRequested; i++)
        {
            byte[] text = Encoding.UTF8.GetBytes($"{sender} {i}");
            using ServiceReply reply = await _client.RequestAsync(text, Guard.Limit, Guard.Token);
            Assert.True(reply.Span.SequenceEqual(text));
            Interlocked.Increment(ref _answered);
            SignalGoal();
        }
    }

    private void SignalGoal()
    {
        if (Volatile.Read(ref _goal) is { } goal && Answered >= goal.Answered)
        {
            goal.Reached.TrySetResult();
        }
    }

    private sealed record Goal(long Answered)
    {
        public TaskCompletionSource Reached { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);
    }
}
