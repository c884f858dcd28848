using System.Collections.Concurrent;
using Xunit;

namespace Net.Zlink.Tests.Support;

/// <summary>Threads of a test's own. What one of them throws fails the test at <see cref="JoinAsync"/>.</summary>
internal sealed class TestThreads
{
    private readonly List<Task> _running = [];
    private readonly ConcurrentQueue<Exception> _failures = [];

    /// <summary>Completes when one of them has failed.</summary>
    public TaskCompletionSource Failed { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

    public void Start(Action body)
    {
        ITestOutputHelper? output = TestContext.Current.TestOutputHelper;
        var ended = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var thread = new Thread(() =>
        {
            try
            {
                body();
            }
            catch (Exception e)
            {
                _failures.Enqueue(e);
                output?.WriteLine($"{e}"); // What fails later, for want of a message's end, must not hide it.
                Failed.TrySetResult();
            }

            ended.SetResult();
        })
        { IsBackground = true };
        _running.Add(ended.Task);
        thread.Start();
    }

    /// <summary>Waits for these, or for the first failure of any.</summary>
    /// <param name="progress">A number that changes for as long as they do something.</param>
    /// <param name="some">What is waited for.</param>
    public async Task WaitForAsync(Func<long> progress, params IEnumerable<Task> some)
    {
        await Task.WhenAny(Task.WhenAll(some), Failed.Task).WhileItGoesOn(progress);
        ThrowIfFailed();
    }

    public async Task JoinAsync(Func<long> progress)
    {
        await WaitForAsync(progress, _running);
        ThrowIfFailed();
    }

    private void ThrowIfFailed()
    {
        if (!_failures.IsEmpty)
        {
            Assert.Fail(string.Join('\n', _failures));
        }
    }
}
