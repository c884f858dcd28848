using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests;

/// <summary>Receivers that are connected and leave requests unanswered. Heartbeats are off: they would end such connections
/// first.</summary>
public sealed class EjectionTests
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);
    private static readonly Func<ServiceRequest, CancellationToken, ValueTask> Echo =
        static (request, cancellation) => request.ReplyAsync(request.Memory, cancellation);

    private readonly ManualTimeProvider _clock = new();

    [Fact]
    public async Task One_of_three_receivers_that_answers_nothing_is_ejected_and_comes_back_with_the_one_request_that_it_answers()
    {
        await using var scene = new GatewayScene(time: _clock);
        RouterSocket frozen = await AddOneOfThreeAsync(scene);
        int lost = 0;
        for (int i = 0; i < 60 && scene.Client.ReadyCount == 3; i++)
        {
            lost += await IsLostAsync(scene, frozen) ? 1 : 0;
        }

        Assert.Equal((2, 5), (scene.Client.ReadyCount, lost));
        ReceiverLinkInfo ejected = Assert.Single(scene.Gateway.GetReceivers(), static receiver => receiver.IsEjected);
        Assert.Equal((false, true), (ejected.IsReady, ejected.WhyNotReady!.Contains("unanswered", StringComparison.Ordinal)));
        Assert.Equal((1, 1), (scene.Gateway.GetStatistics().EjectedReceivers, (int)scene.Gateway.GetStatistics().Ejections));
        Assert.Contains("1 ejected", scene.Gateway.Describe(), StringComparison.Ordinal);
        for (int i = 0; i < 20; i++)
        {
            Assert.False(await IsLostAsync(scene, frozen));
        }

        _clock.Advance(5.1 * Second);
        Task<string> asked = scene.AskAsync("x", Second);
        await AnswerAsync(frozen, "back");
        Assert.Equal("back", await asked.Guarded());
        Assert.Equal((3, 0), (scene.Client.ReadyCount, scene.Gateway.GetStatistics().EjectedReceivers));
    }

    [Fact]
    public async Task An_ejected_receiver_that_loses_its_trial_costs_one_request_and_is_out_for_twice_as_long()
    {
        await using var scene = new GatewayScene(time: _clock);
        RouterSocket frozen = await AddOneOfThreeAsync(scene);
        await EjectAsync(scene, frozen);
        _clock.Advance(5.1 * Second);
        Assert.True(await IsLostAsync(scene, frozen));
        _clock.Advance(8 * Second); // and a second that the lost one took
        Assert.False(await IsLostAsync(scene, frozen));
        _clock.Advance(3 * Second);
        Assert.True(await IsLostAsync(scene, frozen));
        Assert.Equal(1, scene.Gateway.GetStatistics().Ejections);
    }

    [Fact]
    public async Task An_ejected_receiver_is_still_reached_by_its_routing_id()
    {
        await using var scene = new GatewayScene(time: _clock);
        RouterSocket frozen = await AddOneOfThreeAsync(scene);
        await EjectAsync(scene, frozen);
        Task<ServiceReply> asked = scene.Client.To(RoutingId.FromText("frozen")).RequestAsync(new byte[1], Second, Guard.Token).AsTask();
        await AnswerAsync(frozen, "here");
        using ServiceReply reply = await asked.Guarded();
        Assert.Equal("here"u8, reply.Span);
        await scene.UntilReadyIsAsync(3);
    }

    [Fact]
    public async Task An_ejected_receiver_gets_requests_again_when_it_is_the_only_one_that_is_left()
    {
        await using var scene = new GatewayScene(time: _clock);
        (RouterSocket frozen, _) = await scene.AddRawAsync("frozen");
        (ServiceReceiver other, _) = await scene.AddServingAsync("b", Echo);
        await EjectAsync(scene, frozen);
        await other.DisposeAsync().Guarded();
        await scene.Fixture.UntilAsync(
            () => scene.Gateway.GetReceivers().Count(static receiver => receiver.IsReady || receiver.IsEjected) == 1);
        Assert.Equal(1, scene.Client.ReadyCount);
        Task<string> asked = scene.AskAsync("x", Second);
        await AnswerAsync(frozen, "all that is left");
        Assert.Equal("all that is left", await asked.Guarded());
    }

    [Fact]
    public async Task Of_three_receivers_that_are_all_too_slow_none_is_ejected()
    {
        await using var scene = new GatewayScene(time: _clock);
        RouterSocket[] slow = [.. await Task.WhenAll(AddRawAsync("a"), AddRawAsync("b"), AddRawAsync("c"))];
        await scene.UntilReadyAsync(3);
        for (int i = 0; i < 30; i++)
        {
            Assert.True(await IsLostAsync(scene, slow));
        }

        Assert.Equal((3, 0), (scene.Client.ReadyCount, (int)scene.Gateway.GetStatistics().Ejections));

        Task<RouterSocket> AddRawAsync(string id)
        {
            RouterSocket socket = scene.Fixture.Own(scene.Fixture.Context.CreateRouter(new RouterOptions { Linger = TimeSpan.Zero }));
            scene.List(socket.Bind("tcp://127.0.0.1:*"), id);
            return Task.FromResult(socket);
        }
    }

    [Fact]
    public async Task A_receiver_whose_answers_come_too_late_stays()
    {
        await using var scene = new GatewayScene(time: _clock);
        RouterSocket slow = await AddOneOfThreeAsync(scene);
        using var reply = new MessageBuilder();
        for (int late = 0; late < 12;)
        {
            Task<string> asked = scene.AskAsync("x", Second);
            Message request = default;
            await Guard.UntilAsync(() => asked.IsCompleted || TryTakeRequest(slow, out request), "somebody has it");
            if (asked.IsCompleted)
            {
                await asked;
                continue;
            }

            using (request)
            {
                await LoseAsync(scene, asked);
                Assert.True(slow.To(request).TrySend(reply.Add(request[0].Span).Add("late")));
            }

            late++;
            await Guard.UntilAsync(() => scene.Gateway.GetStatistics().UnmatchedReplies == late, "the late reply has come");
        }

        Assert.Equal((3, 0), (scene.Client.ReadyCount, (int)scene.Gateway.GetStatistics().Ejections));
    }

    [Fact]
    public async Task No_more_than_half_of_a_service_is_ejected()
    {
        await using var scene = new GatewayScene(time: _clock);
        (RouterSocket one, _) = await scene.AddRawAsync("one");
        (RouterSocket two, _) = await scene.AddRawAsync("two");
        await scene.AddServingAsync("three", Echo);
        for (int i = 0; i < 60; i++)
        {
            await IsLostAsync(scene, one, two);
            Assert.InRange(scene.Gateway.GetStatistics().EjectedReceivers, 0, 1);
        }

        Assert.Equal((2, 1), (scene.Client.ReadyCount, scene.Gateway.GetStatistics().EjectedReceivers));
    }

    private static async Task<RouterSocket> AddOneOfThreeAsync(GatewayScene scene)
    {
        (RouterSocket frozen, _) = await scene.AddRawAsync("frozen");
        await scene.AddServingAsync("b", Echo);
        await scene.AddServingAsync("c", Echo);
        return frozen;
    }

    private static async Task AnswerAsync(RouterSocket receiver, string text)
    {
        Message request = default;
        await Guard.UntilAsync(() => TryTakeRequest(receiver, out request), "the request comes");
        using (request)
        {
            using var reply = new MessageBuilder();
            Assert.True(receiver.To(request).TrySend(reply.Add(request[0].Span).Add(text)));
        }
    }

    private static bool TryTakeRequest(RouterSocket receiver, out Message request)
    {
        while (receiver.TryReceive(out request))
        {
            if (RequestEnvelope.TryRead(request.Span, out RequestEnvelope envelope) && envelope.Kind == EnvelopeKind.Request)
            {
                return true;
            }

            request.Dispose(); // It is told that nobody waits any more.
        }

        return false;
    }

    private async Task EjectAsync(GatewayScene scene, RouterSocket frozen)
    {
        int ready = scene.Client.ReadyCount;
        for (int i = 0; i < 60 && scene.Client.ReadyCount == ready; i++)
        {
            await IsLostAsync(scene, frozen);
        }

        Assert.Equal(ready - 1, scene.Client.ReadyCount);
    }

    /// <summary>Sends a request, and lets its time pass if one of these has it.</summary>
    private async Task<bool> IsLostAsync(GatewayScene scene, params RouterSocket[] frozen)
    {
        Task<string> asked = scene.AskAsync("x", Second);
        bool isLost = false;
        await Guard.UntilAsync(() => asked.IsCompleted || (isLost = Array.Exists(frozen, Takes)), "somebody has it");
        if (isLost)
        {
            await LoseAsync(scene, asked);
        }
        else
        {
            Assert.Equal("x", await asked);
        }

        return isLost;

        static bool Takes(RouterSocket receiver)
        {
            bool isTaken = TryTakeRequest(receiver, out Message request);
            request.Dispose();
            return isTaken;
        }
    }

    private async Task LoseAsync(GatewayScene scene, Task<string> asked)
    {
        await scene.Fixture.SettleAsync();
        _clock.Advance(1.1 * Second);
        await Assert.ThrowsAsync<TimeoutException>(() => asked.Guarded());
    }
}
