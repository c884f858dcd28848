using System.Text;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests;

public class RequestTests
{
    private static readonly Func<ServiceRequest, CancellationToken, ValueTask> Echo = static (request, cancellationToken) =>
        request.ReplyAsync(request.Memory, cancellationToken);

    private static readonly Func<ServiceRequest, CancellationToken, ValueTask> Refuse = static (request, _) =>
    {
        request.TryRefuse(300, "not today");
        return default;
    };

    [Fact]
    public async Task A_request_that_its_receiver_found_too_late_is_told_as_a_time_out()
    {
        await using var scene = new GatewayScene();
        (RouterSocket receiver, _) = await scene.AddRawAsync("slow");
        Task<string> asked = scene.AskAsync("late");
        using (Message request = await receiver.ReceiveAsync(Guard.Token).Guarded())
        {
            Assert.True(RequestEnvelope.TryRead(request.Span, out RequestEnvelope envelope));
            byte[] refusal = new byte[RequestEnvelope.HeaderSize];
            new RequestEnvelope { Kind = EnvelopeKind.Refused, Code = RefusalCode.Expired, Id = envelope.Id }.Write(refusal);
            receiver.To(request.RoutingId).Send(refusal);
        }

        await Assert.ThrowsAsync<TimeoutException>(() => asked.Guarded());
        Assert.Equal(1, scene.Gateway.GetStatistics().TimedOutRequests);
    }

    [Fact]
    public async Task A_request_gets_the_reply_of_its_receiver()
    {
        await using var scene = new GatewayScene();
        (_, string endpoint) = await scene.AddServingAsync("one", Echo);

        using ServiceReply reply = await scene.Client.RequestAsync("hello"u8.ToArray(), cancellationToken: Guard.Token).Guarded();

        Assert.Equal(("hello", 1, 1, endpoint), (
            Encoding.UTF8.GetString(reply.Span), reply.PartCount, reply.Attempts, reply.Receiver.Endpoint));
        GatewayStatistics statistics = scene.Gateway.GetStatistics();
        Assert.Equal((1, 1, 0), (statistics.StartedRequests, statistics.AnsweredRequests, statistics.OutstandingRequests));
    }

    [Fact]
    public async Task Parts_of_a_builder_arrive_as_parts_and_leave_it_empty()
    {
        await using var scene = new GatewayScene();
        await scene.AddServingAsync("one", static async (request, token) =>
        {
            using MessageBuilder swapped = new MessageBuilder().Add(request[1].Span).Add(request[0].Span);
            await request.ReplyAsync(swapped, token);
            Assert.Equal(0, swapped.Count);
        });
        using var parts = new MessageBuilder();

        using ServiceReply reply = await scene.Client.RequestAsync(parts.Add("a").Add("b"), cancellationToken: Guard.Token).Guarded();

        Assert.Equal(("b", "a"), (Encoding.UTF8.GetString(reply[0].Span), Encoding.UTF8.GetString(reply[1].Span)));
        Assert.Equal(0, parts.Count);
    }

    [Fact]
    public async Task Many_requests_at_once_get_each_its_own_reply()
    {
        await using var scene = new GatewayScene();
        await scene.AddServingAsync("one", Echo);
        await scene.AddServingAsync("two", Echo);

        string[] replies = await Task.WhenAll(Enumerable.Range(0, 2_000).Select(number => scene.AskAsync($"{number}")));

        Assert.Equal(Enumerable.Range(0, 2_000).Select(static number => $"{number}"), replies, StringComparer.Ordinal);
    }

    [Fact]
    public async Task A_refused_request_goes_to_each_other_receiver_once_and_then_fails_as_not_executed()
    {
        await using var scene = new GatewayScene();
        (ServiceReceiver one, _) = await scene.AddServingAsync("one", Refuse);
        (ServiceReceiver two, _) = await scene.AddServingAsync("two", Refuse);

        ServiceException refused = await Assert.ThrowsAsync<ServiceException>(() => scene.AskAsync("x"));
        Assert.Equal((ServiceError.Refused, (ushort)300, false), (refused.Error, refused.Code, refused.WasExecuted));
        Assert.Contains("not today", refused.Message, StringComparison.Ordinal);
        Assert.Equal((1, 1), (one.GetStatistics().Requests, two.GetStatistics().Requests));

        await scene.AddServingAsync("three", Echo);
        Assert.Equal("y", await scene.AskAsync("y"));
        Assert.Equal("y", await scene.AskAsync("y"));
        Assert.Equal("y", await scene.AskAsync("y"));
    }

    [Fact]
    public async Task A_request_that_failed_is_told_as_executed()
    {
        await using var scene = new GatewayScene();
        await scene.AddServingAsync("one", static (request, _) =>
        {
            request.TryFail(301, "it broke");
            return default;
        });

        ServiceException failed = await Assert.ThrowsAsync<ServiceException>(() => scene.AskAsync("x"));

        Assert.Equal((ServiceError.Failed, (ushort)301, true), (failed.Error, failed.Code, failed.WasExecuted));
    }

    [Fact]
    public async Task Without_a_listed_receiver_a_request_fails_at_once()
    {
        await using var scene = new GatewayScene();

        ServiceException none = await Assert.ThrowsAsync<ServiceException>(() => scene.AskAsync("x"));

        Assert.Equal((ServiceError.NoReceiver, false), (none.Error, none.WasExecuted));
        Assert.Contains("lists no receiver", none.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Where_every_receiver_has_failed_a_request_fails_and_says_why()
    {
        await using var scene = new GatewayScene();
        using var listener = new System.Net.Sockets.TcpListener(System.Net.IPAddress.Loopback, 0);
        listener.Start();
        int port = ((System.Net.IPEndPoint)listener.LocalEndpoint).Port;
        listener.Stop();
        scene.List($"tcp://127.0.0.1:{port}", "dead");
        await scene.Fixture.UntilAsync(() => scene.Client.GetReceivers() is [{ WhyNotReady: not "connecting" }]);

        ServiceException none = await Assert.ThrowsAsync<ServiceException>(() => scene.AskAsync("x"));

        Assert.Equal(ServiceError.NoReceiver, none.Error);
        Assert.Contains($"tcp://127.0.0.1:{port} (", none.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_request_waits_for_a_receiver_that_makes_its_first_attempt()
    {
        await using var scene = new GatewayScene();
        using RouterSocket socket = scene.Fixture.Context.CreateRouter();
        string endpoint = socket.Bind("tcp://127.0.0.1:*");
        scene.List(endpoint, "late");
        await scene.Fixture.UntilAsync(() => scene.Client.GetReceivers().Count == 1);

        Task<string> asked = scene.AskAsync("x");
        using (Message request = await socket.ReceiveAsync(Guard.Token).Guarded())
        {
            using var reply = new MessageBuilder();
            Assert.True(socket.To(request).TrySend(reply.Add(request[0].Span).Add("as natively")));
        }

        Assert.Equal("as natively", await asked.Guarded());
    }

    [Fact]
    public async Task Time_that_is_over_ends_a_request_and_tells_the_receiver()
    {
        var time = new ManualTimeProvider();
        await using var scene = new GatewayScene(time: time);
        (RouterSocket socket, string endpoint) = await scene.AddRawAsync("silent");

        Task<string> asked = scene.AskAsync("x", TimeSpan.FromMilliseconds(250));
        using Message request = await socket.ReceiveAsync(Guard.Token).Guarded();
        Assert.True(RequestEnvelope.TryRead(request.Span, out RequestEnvelope envelope));
        (ulong id, TimeSpan? left, string service) = (envelope.Id, envelope.TimeLeft, Encoding.UTF8.GetString(envelope.Service));
        Assert.Equal((TimeSpan.FromMilliseconds(250), GatewayScene.Service), (left, service));
        time.Advance(TimeSpan.FromMilliseconds(249));
        Assert.False(asked.IsCompleted);
        time.Advance(TimeSpan.FromMilliseconds(21));

        TimeoutException late = await Assert.ThrowsAsync<TimeoutException>(() => asked.Guarded());
        Assert.Contains(endpoint, late.Message, StringComparison.Ordinal);
        using Message cancel = await socket.ReceiveAsync(Guard.Token).Guarded();
        Assert.True(RequestEnvelope.TryRead(cancel.Span, out envelope));
        Assert.Equal((EnvelopeKind.Cancel, id), (envelope.Kind, envelope.Id));

        using var reply = new MessageBuilder();
        Assert.True(socket.To(request).TrySend(reply.Add(request[0].Span)));
        await scene.Fixture.UntilAsync(() => scene.Gateway.GetStatistics().UnmatchedReplies == 1);
    }

    [Fact]
    public async Task A_cancelled_token_ends_a_request_and_tells_the_receiver()
    {
        await using var scene = new GatewayScene();
        (RouterSocket socket, _) = await scene.AddRawAsync("silent");
        using var cancellation = new CancellationTokenSource();

        ValueTask<ServiceReply> asked = scene.Client.RequestAsync("x"u8.ToArray(), cancellationToken: cancellation.Token);
        using Message request = await socket.ReceiveAsync(Guard.Token).Guarded();
        await cancellation.CancelAsync();

        OperationCanceledException ended = await Assert.ThrowsAnyAsync<OperationCanceledException>(() => asked.AsTask().Guarded());
        Assert.Equal(cancellation.Token, ended.CancellationToken);
        using Message cancel = await socket.ReceiveAsync(Guard.Token).Guarded();
        Assert.True(RequestEnvelope.TryRead(cancel.Span, out RequestEnvelope envelope));
        Assert.Equal(EnvelopeKind.Cancel, envelope.Kind);
    }

    [Fact]
    public async Task A_lost_connection_ends_its_requests_and_no_others()
    {
        await using var scene = new GatewayScene();
        (RouterSocket lost, _) = await scene.AddRawAsync("lost");
        (RouterSocket kept, _) = await scene.AddRawAsync("kept");
        ValueTask<ServiceReply> one = scene.Client.To(RoutingId.FromText("lost")).RequestAsync("x"u8.ToArray(), Guard.Limit, Guard.Token);
        ValueTask<ServiceReply> other = scene.Client.To(RoutingId.FromText("kept")).RequestAsync("y"u8.ToArray(), Guard.Limit, Guard.Token);
        using Message first = await lost.ReceiveAsync(Guard.Token).Guarded();
        using Message second = await kept.ReceiveAsync(Guard.Token).Guarded();

        lost.Dispose();

        ServiceException gone = await Assert.ThrowsAsync<ServiceException>(() => one.AsTask().Guarded());
        Assert.Equal((ServiceError.ReceiverLost, true), (gone.Error, gone.WasExecuted));
        using var reply = new MessageBuilder();
        Assert.True(kept.To(second).TrySend(reply.Add(second[0].Span).Add("z")));
        using ServiceReply answer = await other.AsTask().Guarded();
        Assert.Equal("z", Encoding.UTF8.GetString(answer.Span));
    }

    [Fact]
    public async Task A_request_that_is_answered_before_the_receiver_closes_is_never_told_lost()
    {
        int rounds = Faults.Rounds(10, more: 200, byHand: 1_000);
        const int Requests = 1_000;
        await using var scene = new GatewayScene();
        for (int round = 0; round < rounds; round++)
        {
            (RouterSocket socket, string endpoint) = await scene.AddRawAsync(
                "once", configure: static options => options.Linger = Guard.Limit);
            Task<string>[] asked = [.. Enumerable.Range(0, Requests).Select(number => scene.AskAsync($"{number}"))];
            var batch = new Message[Requests];
            int received = 0;
            while (received < Requests)
            {
                received += await socket.ReceiveManyAsync(batch.AsMemory(received), Guard.Token).Guarded();
            }

            foreach (Message request in batch)
            {
                Assert.True(socket.To(request).TrySend(request));
            }

            socket.Dispose();

            Assert.Equal(Enumerable.Range(0, Requests).Select(static number => $"{number}"), await Task.WhenAll(asked).Guarded(),
                StringComparer.Ordinal);
            scene.Unlist(endpoint);
            await scene.UntilReadyIsAsync(0);
        }

        Assert.Equal(rounds * Requests, scene.Gateway.GetStatistics().AnsweredRequests);
    }

    [Fact]
    public async Task A_clock_that_is_set_back_makes_no_request_late()
    {
        await using var receivers = new ContextFixture();
        await using var receiver = new ServiceReceiver(receivers.Context);
        string endpoint = receiver.Bind("tcp://127.0.0.1:*");
        _ = receiver.ServeAsync(Echo, cancellationToken: Guard.Token);
        var clock = new SettableClock();
        await using var gateways = new ContextFixture(time: clock);
        await using var gateway = new ServiceGateway(gateways.Context, new StaticDirectory(new ServiceInstance("svc", endpoint)));
        for (int i = 0; i < 3; i++)
        {
            using ServiceReply reply = await gateway.GetClient("svc").RequestAsync(new byte[1], Guard.Limit, Guard.Token).Guarded();
            clock.Offset -= TimeSpan.FromHours(1);
        }

        Assert.Equal((3L, 0L), (receiver.GetStatistics().Replies, receiver.GetStatistics().Refused));
    }

    [Fact]
    public async Task A_draining_receiver_gets_nothing_more_and_what_it_refuses_goes_elsewhere()
    {
        await using var scene = new GatewayScene();
        (ServiceReceiver draining, string endpoint) = await scene.AddServingAsync("draining", Echo);
        await scene.AddServingAsync("staying", Echo);
        Task<DrainReport> drain = draining.DrainAsync(
            new DrainOptions { MinDelay = TimeSpan.Zero, IdleTime = TimeSpan.FromSeconds(1) }, Guard.Token);

        for (int i = 0; i < 50; i++)
        {
            Assert.Equal($"{i}", await scene.AskAsync($"{i}"));
        }

        Assert.True(scene.Client.GetReceivers().Single(receiver => string.Equals(receiver.Endpoint, endpoint, StringComparison.Ordinal))
            .IsDraining);
        Assert.Equal(1, scene.Client.ReadyCount);
        Assert.Equal((50, 0), (scene.Gateway.GetStatistics().AnsweredRequests, scene.Gateway.GetStatistics().LostRequests));
        await drain.Guarded();
    }

    [Fact]
    public async Task The_end_of_the_gateway_ends_each_wait()
    {
        var scene = new GatewayScene(new ServiceGatewayOptions { Socket = { Linger = TimeSpan.Zero } });
        await scene.AddRawAsync("silent");
        Task<ServiceReply> asked = scene.Client.RequestAsync("x"u8.ToArray(), Guard.Limit, Guard.Token).AsTask();
        Task<GatewayMessage> received = scene.Gateway.ReceiveAsync(Guard.Token).AsTask();
        Task waiting = scene.Client.WaitUntilReadyAsync(2, Guard.Token).AsTask();

        await scene.Gateway.DisposeAsync().Guarded();

        await Assert.ThrowsAsync<ObjectDisposedException>(() => asked.Guarded());
        await Assert.ThrowsAsync<ObjectDisposedException>(() => received.Guarded());
        await Assert.ThrowsAsync<ObjectDisposedException>(() => waiting.Guarded());
        await Assert.ThrowsAsync<ObjectDisposedException>(() => scene.AskAsync("x"));
        Assert.Throws<ObjectDisposedException>(() => scene.Client.TrySend("x"u8));
        await scene.DisposeAsync();
    }

    [Fact]
    public async Task The_end_of_the_context_ends_each_wait()
    {
        var scene = new GatewayScene();
        await scene.AddRawAsync("silent");
        Task<ServiceReply> asked = scene.Client.RequestAsync("x"u8.ToArray(), Guard.Limit, Guard.Token).AsTask();
        Task<GatewayMessage> received = scene.Gateway.ReceiveAsync(Guard.Token).AsTask();

        await scene.Fixture.Context.ShutdownAsync(TimeSpan.Zero, Guard.Token).Guarded();

        Assert.Equal(ZlinkError.ContextTerminated, (await Assert.ThrowsAsync<ZlinkException>(() => asked.Guarded())).Error);
        Assert.Equal(ZlinkError.ContextTerminated, (await Assert.ThrowsAsync<ZlinkException>(() => received.Guarded())).Error);
        await scene.DisposeAsync();
    }

    private sealed class SettableClock : TimeProvider
    {
        public TimeSpan Offset { get; set; }

        public override DateTimeOffset GetUtcNow() => base.GetUtcNow() + Offset;
    }
}
