using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests;

/// <summary>Requests for which nobody is ready.</summary>
public sealed class WaitForReadyTests
{
    private static readonly Func<ServiceRequest, CancellationToken, ValueTask> Echo =
        static (request, cancellation) => request.ReplyAsync(request.Memory, cancellation);

    [Fact]
    public async Task A_first_request_waits_in_its_time_for_the_first_list_and_the_first_receiver()
    {
        var clock = new ManualTimeProvider();
        await using var scene = new GatewayScene(new ServiceGatewayOptions { WaitForReady = true }, clock);
        Task<string> first = scene.AskAsync("first", TimeSpan.FromSeconds(60));
        await scene.Fixture.SettleAsync();
        clock.Advance(TimeSpan.FromSeconds(30));
        await scene.Fixture.SettleAsync();
        Assert.False(first.IsCompleted);
        (ServiceReceiver receiver, _) = await scene.AddServingAsync("one", Echo);
        Assert.Equal("first", await first.Guarded());

        await receiver.DisposeAsync().Guarded();
        await scene.UntilReadyIsAsync(0);
        ServiceException failure = await Assert.ThrowsAsync<ServiceException>(() => scene.AskAsync("later").Guarded());
        Assert.Equal(ServiceError.NoReceiver, failure.Error);
    }

    [Fact]
    public async Task A_first_request_that_waits_ends_with_its_time_and_with_its_service()
    {
        var clock = new ManualTimeProvider();
        await using var scene = new GatewayScene(new ServiceGatewayOptions { WaitForReady = true }, clock);
        Task<string> late = scene.AskAsync("late", TimeSpan.FromSeconds(5));
        await scene.Fixture.SettleAsync();
        clock.Advance(TimeSpan.FromSeconds(5.1));
        Assert.Contains("the directory lists no receiver", (await Assert.ThrowsAsync<TimeoutException>(() => late.Guarded())).Message,
            StringComparison.Ordinal);

        Task<string> removed = scene.AskAsync("removed", TimeSpan.FromSeconds(5));
        Assert.True(scene.Gateway.RemoveClient(GatewayScene.Service));
        ServiceException failure = await Assert.ThrowsAsync<ServiceException>(() => removed.Guarded());
        Assert.Equal(ServiceError.NoReceiver, failure.Error);
    }

    [Fact]
    public async Task A_loop_that_asks_again_without_a_pause_while_nobody_is_ready_leaves_its_thread_to_others()
    {
        await using var scene = new GatewayScene();
        var left = new TaskCompletionSource<bool>(TaskCreationOptions.RunContinuationsAsynchronously);
        new Thread(() => _ = AskAgainAsync()) { IsBackground = true }.Start();
        Assert.True(await left.Task.Guarded());

        async Task AskAgainAsync()
        {
            for (int i = 0; i < 1_000 && !Thread.CurrentThread.IsThreadPoolThread; i++)
            {
                try
                {
                    (await scene.Client.RequestAsync(new byte[1], Guard.Limit, CancellationToken.None).ConfigureAwait(false)).Dispose();
                }
                catch (ServiceException)
                {
                    // Nobody is ready.
                }
            }

            left.SetResult(Thread.CurrentThread.IsThreadPoolThread);
        }
    }
}
