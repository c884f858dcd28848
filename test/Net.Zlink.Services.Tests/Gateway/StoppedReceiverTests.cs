using System.Diagnostics;
using Net.Zlink.Tests.Support;
using Samples;
using Xunit;

namespace Net.Zlink.Services.Tests;

/// <summary>A receiver whose process is stopped by the system, as in a debugger or a frozen container.</summary>
public sealed class StoppedReceiverTests
{
    // The receiver takes the shortest way of all requests as the difference of the clocks, and its first ones wait for the compiler.
    private const int Before = 20;

    private static readonly TimeSpan s_timeout = TimeSpan.FromMilliseconds(200);
    private static readonly TimeSpan s_stopped = TimeSpan.FromSeconds(Faults.Rounds(1, more: 3, byHand: 60));

    [Fact]
    public async Task A_receiver_that_is_stopped_is_left_out_by_heartbeats_and_costs_only_what_it_had()
    {
        Assert.SkipWhen(OperatingSystem.IsWindows(), "There are no signals.");
        await using var scene = new GatewayScene(new ServiceGatewayOptions
        {
            Socket = { HeartbeatInterval = TimeSpan.FromMilliseconds(50), HeartbeatTimeout = TimeSpan.FromMilliseconds(500) },
        });
        await using ChildProcess receiver = await StartAsync(scene);

        await receiver.SignalAsync("STOP");
        ServiceException failure = await Assert.ThrowsAsync<ServiceException>(() => scene.AskAsync("lost").Guarded());
        Assert.Equal((ServiceError.ReceiverLost, true), (failure.Error, failure.WasExecuted));
        await scene.UntilReadyIsAsync(0);
        await scene.AddServingOnlyAsync("other", static (request, cancellation) => request.ReplyAsync(request.Memory, cancellation));
        for (int i = 0; i < 100; i++)
        {
            Assert.Equal("x", await scene.AskAsync("x"));
        }

        await receiver.SignalAsync("CONT");
        await scene.UntilReadyAsync(2);
    }

    [Fact]
    public async Task A_receiver_that_was_stopped_executes_no_request_whose_time_is_over()
    {
        Assert.SkipWhen(OperatingSystem.IsWindows(), "There are no signals.");
        await using var scene = new GatewayScene(new ServiceGatewayOptions { Socket = { HeartbeatInterval = TimeSpan.Zero } });
        await using ChildProcess receiver = await StartAsync(scene);

        await receiver.SignalAsync("STOP");
        int late = 0;
        for (long start = Stopwatch.GetTimestamp(); Stopwatch.GetElapsedTime(start) < s_stopped; late++)
        {
            await Assert.ThrowsAsync<TimeoutException>(() => scene.AskAsync("late", s_timeout).Guarded());
        }

        Assert.True(late > 0);

        // A request's age is known up to the shortest way of all, which is long on a busy machine: the last one has to be over by more.
        long last = Stopwatch.GetTimestamp();
        await Guard.UntilAsync(() => Stopwatch.GetElapsedTime(last) > TimeSpan.FromSeconds(1), "a second is over");
        await receiver.SignalAsync("CONT");
        Assert.Equal("after", await scene.AskAsync("after"));
        Assert.Equal("EXECUTED after", await receiver.ReadLineAsync("EXECUTED"));
    }

    /// <summary>Starts one that is listed, ready, and has executed a request.</summary>
    private static async Task<ChildProcess> StartAsync(GatewayScene scene)
    {
        ChildProcess receiver = Programs.Child("receiver").Start();
        string ready = await receiver.ReadLineAsync("READY");
        scene.List(ready["READY ".Length..], "stopped");
        await scene.UntilReadyAsync(1);
        for (int i = 0; i < Before; i++)
        {
            Assert.Equal("before", await scene.AskAsync("before"));
            await receiver.ReadLineAsync("EXECUTED before");
        }

        return receiver;
    }
}
