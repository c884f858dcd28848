using System.Collections.Concurrent;
using System.Text;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests;

public class ServeTests
{
    private static readonly Func<ServiceRequest, CancellationToken,
        ValueTask> Echo = static (request, cancellationToken) => request.ReplyAsync(request.Memory, cancellationToken);

    [Fact]
    public async Task A_request_is_answered_with_its_id_on_its_connection()
    {
        await using var fixture = new ContextFixture();
        await using var receiver = new ServiceReceiver(fixture.Context);
        string endpoint = receiver.Bind("tcp://127.0.0.1:*");
        using var one = new ScriptedGateway(fixture.Context, endpoint, RoutingId.FromText("same"));
        using var other = new ScriptedGateway(fixture.Context, endpoint, RoutingId.FromText("same"));
        Task serving = receiver.ServeAsync(Echo, cancellationToken: Guard.Token);

        one.Request(7, "from one");
        other.Request(7, "from other");

        Assert.Equal(new ScriptedGateway.Answer(EnvelopeKind.Reply, EnvelopeFlags.None, 0, 7, "from one"), await one.ReceiveAsync());
        Assert.Equal("from other", (await other.ReceiveAsync()).Text);
        await receiver.DisposeAsync();
        await serving.Guarded();
        Assert.Equal(2, receiver.GetStatistics().Replies);
    }

    [Fact]
    public async Task A_plain_message_expects_no_reply_and_can_be_answered_as_natively()
    {
        await using var fixture = new ContextFixture();
        await using var receiver = new ServiceReceiver(fixture.Context);
        using var gateway = new ScriptedGateway(fixture.Context, receiver.Bind("tcp://127.0.0.1:*"));

        gateway.SendPlain("hello");
        using ServiceRequest request = await receiver.ReceiveAsync(Guard.Token).Guarded();

        Assert.Equal((false, 1, "hello", null), (
            request.ExpectsReply, request.PartCount, Encoding.UTF8.GetString(request.Span), request.TimeLeft));
        Assert.False(request.TryFail(1, "nobody waits"));
        Assert.True(request.TryReply("answer"u8));
        Assert.Equal(new ScriptedGateway.Answer(null, EnvelopeFlags.None, 0, 0, "answer"), await gateway.ReceiveAsync());
    }

    [Fact]
    public async Task Payloads_that_look_like_envelopes_arrive_as_they_were_sent_in_both_directions()
    {
        byte[] lookalike = new byte[RequestEnvelope.HeaderSize];
        new RequestEnvelope { Kind = EnvelopeKind.Reply, Id = 3 }.Write(lookalike);
        await using var fixture = new ContextFixture();
        await using var receiver = new ServiceReceiver(fixture.Context);
        using var gateway = new ScriptedGateway(fixture.Context, receiver.Bind("tcp://127.0.0.1:*"));

        using var escaped = new MessageBuilder();
        escaped.AddEnvelope(new RequestEnvelope { Kind = EnvelopeKind.Plain });
        gateway.Socket.Send(escaped.Add(lookalike), Guard.Limit);
        using ServiceRequest request = await receiver.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal((false, 1), (request.ExpectsReply, request.PartCount));
        Assert.Equal(lookalike, request.Memory.ToArray());

        Assert.True(request.TryReply(lookalike));
        using Message answer = await gateway.Socket.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal(2, answer.PartCount);
        Assert.True(RequestEnvelope.TryRead(answer.Span, out RequestEnvelope envelope));
        Assert.Equal(EnvelopeKind.Plain, envelope.Kind);
        Assert.Equal(lookalike, answer[1].ToArray());
    }

    [Fact]
    public async Task A_handler_that_throws_or_does_not_reply_is_answered_for()
    {
        await using var fixture = new ContextFixture();
        await using var receiver = new ServiceReceiver(fixture.Context);
        using var gateway = new ScriptedGateway(fixture.Context, receiver.Bind("tcp://127.0.0.1:*"));
        _ = receiver.ServeAsync(
            static (request, _) => Encoding.UTF8.GetString(request.Span) switch
            {
                "throw" => throw new FormatException("no"),
                "say" => throw new ServiceException(ServiceError.Failed, "sold out", 302),
                "pass on" => throw new ServiceException(ServiceError.NoReceiver, "no receiver of prices is ready"),
                "refuse" => Ignore(request.TryRefuse(300, "not today")),
                "fail" => Ignore(request.TryFail(301, "it broke")),
                "parts" => Ignore(request.TryReply(new MessageBuilder().Add(request.Span).Add("two").Add(""))),
                _ => default,
            },
            cancellationToken: Guard.Token);

        gateway.Request(1, "throw");
        gateway.Request(2, "nothing");
        gateway.Request(3, "refuse");
        gateway.Request(4, "fail");
        gateway.Request(5, "parts");
        gateway.Request(6, "say");
        gateway.Request(7, "pass on");

        Assert.Equal(new ScriptedGateway.Answer(EnvelopeKind.Failed, EnvelopeFlags.None, FailureCode.HandlerThrew, 1,
            nameof(FormatException)), await gateway.ReceiveAsync());
        Assert.Equal((EnvelopeKind.Failed, FailureCode.NoReply), await KindAndCodeAsync(gateway));
        Assert.Equal(new ScriptedGateway.Answer(EnvelopeKind.Refused, EnvelopeFlags.None, 300, 3, "not today"),
            await gateway.ReceiveAsync());
        Assert.Equal(new ScriptedGateway.Answer(EnvelopeKind.Failed, EnvelopeFlags.None, 301, 4, "it broke"), await gateway.ReceiveAsync());
        Assert.Equal(new ScriptedGateway.Answer(EnvelopeKind.Reply, EnvelopeFlags.None, 0, 5, "parts|two|"), await gateway.ReceiveAsync());
        Assert.Equal(new ScriptedGateway.Answer(EnvelopeKind.Failed, EnvelopeFlags.None, 302, 6, "sold out"), await gateway.ReceiveAsync());
        Assert.Equal(new ScriptedGateway.Answer(EnvelopeKind.Failed, EnvelopeFlags.None, FailureCode.HandlerThrew, 7,
            "no receiver of prices is ready"), await gateway.ReceiveAsync());
        await Guard.UntilAsync(() => receiver.GetStatistics().HandlerFaults == 2, "what an application says by a code is no fault");
    }

    [Fact]
    public async Task A_request_that_is_disposed_without_an_answer_has_failed()
    {
        await using var fixture = new ContextFixture();
        await using var receiver = new ServiceReceiver(fixture.Context);
        using var gateway = new ScriptedGateway(fixture.Context, receiver.Bind("tcp://127.0.0.1:*"));
        gateway.Request(1, "x");
        gateway.Request(2, "cancelled");
        gateway.Cancel(2);
        gateway.Request(3, "last");
        using (await receiver.ReceiveAsync(Guard.Token).Guarded())
        {
        }

        ServiceRequest cancelled = await receiver.ReceiveAsync(Guard.Token).Guarded();
        ServiceRequest last = await receiver.ReceiveAsync(Guard.Token).Guarded(); // The cancel came before it.
        cancelled.Dispose();
        last.Dispose();
        last.Dispose();

        Assert.Equal((EnvelopeKind.Failed, 1ul, FailureCode.NoReply), Of(await gateway.ReceiveAsync()));
        Assert.Equal((EnvelopeKind.Failed, 3ul, FailureCode.NoReply), Of(await gateway.ReceiveAsync()));
        Assert.Equal((2, 0), (receiver.GetStatistics().Failed, receiver.GetStatistics().Running));

        static (EnvelopeKind?, ulong, ushort) Of(ScriptedGateway.Answer answer) => (answer.Kind, answer.Id, answer.Code);
    }

    [Fact]
    public async Task Handlers_on_the_pool_that_block_run_beside_each_other()
    {
        await using var fixture = new ContextFixture();
        await using var receiver = new ServiceReceiver(fixture.Context, new ServiceReceiverOptions { RunHandlersOnPool = true });
        using var gateway = new ScriptedGateway(fixture.Context, receiver.Bind("tcp://127.0.0.1:*"));
        using var both = new Barrier(2);
        _ = receiver.ServeAsync(
            (request, cancellationToken) =>
            {
                Assert.True(both.SignalAndWait(Guard.Limit, cancellationToken)); // It goes on when the other one is there.
                request.TryReply(request.Span);
                return default;
            },
            maxConcurrency: 2,
            Guard.Token);

        gateway.Request(1, "x");
        gateway.Request(2, "x");

        var answers = new[] { await gateway.ReceiveAsync(), await gateway.ReceiveAsync() };
        Assert.Equal([EnvelopeKind.Reply, EnvelopeKind.Reply], answers.Select(static answer => answer.Kind));
    }

    [Fact]
    public async Task Six_peers_with_large_requests_and_slow_handlers_stay_within_the_read_ahead()
    {
        const int Limit = 1_000_000;
        const int Size = 100_000;
        await using var fixture = new ContextFixture();
        await using var receiver = new ServiceReceiver(fixture.Context, new ServiceReceiverOptions { ReadAheadByteLimit = Limit });
        string endpoint = receiver.Bind("tcp://127.0.0.1:*");
        var release = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        _ = receiver.ServeAsync(
            async (request, _) =>
            {
                await release.Task;
                request.TryReply("done"u8);
            },
            maxConcurrency: 1,
            Guard.Token);
        ScriptedGateway[] gateways = [.. Enumerable.Range(0, 6).Select(_ => fixture.Own(new ScriptedGateway(fixture.Context, endpoint)))];
        string large = new('x', Size);
        foreach (ScriptedGateway gateway in gateways)
        {
            for (ulong id = 1; id <= 10; id++)
            {
                gateway.Request(id, large);
            }
        }

        await Guard.UntilAsync(
            () => receiver.Socket.GetStatistics().UnreadMessages + receiver.GetStatistics().Requests == 60, "all have come");
        Assert.InRange(receiver.GetStatistics().Requests, 3, 1 + (Limit / Size) + 1); // One runs, and one may exceed the limit.
        release.SetResult();
        foreach (ScriptedGateway gateway in gateways)
        {
            for (int i = 0; i < 10; i++)
            {
                Assert.Equal("done", (await gateway.ReceiveAsync()).Text);
            }
        }
    }

    [Fact]
    public async Task A_request_has_one_answer()
    {
        await using var fixture = new ContextFixture();
        await using var receiver = new ServiceReceiver(fixture.Context);
        using var gateway = new ScriptedGateway(fixture.Context, receiver.Bind("tcp://127.0.0.1:*"));
        gateway.Request(1, "x");
        ServiceRequest request = await receiver.ReceiveAsync(Guard.Token).Guarded();

        Assert.True(request.TryReply("first"u8));
        Assert.Equal(SendFailure.NoPeer, request.TryReply("second"u8).Reason);
        Assert.False(request.TryFail(1, "third"));
        request.Dispose();
        request.Dispose();
        Assert.Throws<ObjectDisposedException>(() => request.TryReply("late"u8));
    }

    [Fact]
    public async Task At_most_so_many_handlers_run_at_once_and_begin_in_order()
    {
        await using var fixture = new ContextFixture();
        await using var receiver = new ServiceReceiver(fixture.Context);
        using var gateway = new ScriptedGateway(fixture.Context, receiver.Bind("tcp://127.0.0.1:*"));
        var begun = new ConcurrentQueue<string>();
        var waiting = new ConcurrentQueue<TaskCompletionSource>();
        Task serving = receiver.ServeAsync(
            async (request, _) =>
            {
                begun.Enqueue(Encoding.UTF8.GetString(request.Span));
                var release = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
                waiting.Enqueue(release);
                await release.Task;
                request.TryReply(request.Span);
            },
            maxConcurrency: 2,
            cancellationToken: Guard.Token);

        for (ulong id = 1; id <= 5; id++)
        {
            gateway.Request(id, $"{id}");
        }

        await Guard.UntilAsync(() => receiver.GetStatistics().Requests == 5 && waiting.Count == 2, "all have come, two run");
        Assert.Equal(["1", "2"], begun, StringComparer.Ordinal);
        Release(waiting);
        Assert.Equal("1", (await gateway.ReceiveAsync()).Text);
        await Guard.UntilAsync(() => waiting.Count == 2, "the third runs");
        Assert.Equal(["1", "2", "3"], begun, StringComparer.Ordinal);
        for (int i = 0; i < 4; i++)
        {
            await Guard.UntilAsync(() => !waiting.IsEmpty, "another runs");
            Release(waiting);
            await gateway.ReceiveAsync();
        }

        Assert.Equal(["1", "2", "3", "4", "5"], begun, StringComparer.Ordinal);
        await receiver.DisposeAsync();
        await serving.Guarded();
    }

    [Fact]
    public async Task A_cancel_ends_the_token_of_a_running_request_and_keeps_a_waiting_one_from_beginning()
    {
        await using var fixture = new ContextFixture();
        await using var receiver = new ServiceReceiver(fixture.Context);
        using var gateway = new ScriptedGateway(fixture.Context, receiver.Bind("tcp://127.0.0.1:*"));
        var begun = new ConcurrentQueue<string>();
        _ = receiver.ServeAsync(
            async (request, cancellationToken) =>
            {
                begun.Enqueue(Encoding.UTF8.GetString(request.Span));
                if (request.Span.SequenceEqual("last"u8))
                {
                    await request.ReplyAsync("done"u8.ToArray(), cancellationToken);
                    return;
                }

                await Task.Delay(Timeout.InfiniteTimeSpan, cancellationToken);
            },
            maxConcurrency: 1,
            cancellationToken: Guard.Token);

        gateway.Request(1, "running");
        await Guard.UntilAsync(() => !begun.IsEmpty, "the first runs");
        gateway.Request(2, "waiting");
        gateway.Request(3, "last");
        gateway.Cancel(2);
        gateway.Cancel(1);
        gateway.Cancel(99);

        Assert.Equal(3ul, (await gateway.ReceiveAsync()).Id);
        Assert.Equal(["running", "last"], begun, StringComparer.Ordinal);
        Assert.Equal((2, 0), (receiver.GetStatistics().Cancelled, receiver.GetStatistics().HandlerFaults));
    }

    [Fact]
    public async Task The_token_ends_when_the_time_of_the_request_is_over()
    {
        var clock = new ManualTimeProvider();
        await using var fixture = new ContextFixture(time: clock);
        await using var receiver = new ServiceReceiver(fixture.Context);
        using var gateway = new ScriptedGateway(fixture.Context, receiver.Bind("tcp://127.0.0.1:*"));
        var tokens = new ConcurrentQueue<CancellationToken>();
        _ = receiver.ServeAsync(
            async (request, cancellationToken) =>
            {
                tokens.Enqueue(cancellationToken);
                await Task.Delay(Timeout.InfiniteTimeSpan, cancellationToken);
            },
            cancellationToken: Guard.Token);

        gateway.Request(1, "short", TimeSpan.FromSeconds(2));
        gateway.Request(2, "long", TimeSpan.FromSeconds(3));
        await Guard.UntilAsync(() => tokens.Count == 2, "both run");
        clock.Advance(TimeSpan.FromSeconds(2));
        Assert.Equal([true, false], tokens.Select(static token => token.IsCancellationRequested));
        clock.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal([true, true], tokens.Select(static token => token.IsCancellationRequested));
        await Guard.UntilAsync(() => receiver.GetStatistics().Running == 0, "both have ended");
    }

    [Fact]
    public async Task Stopping_the_loop_refuses_what_has_not_begun_and_cancels_what_has()
    {
        await using var fixture = new ContextFixture();
        await using var receiver = new ServiceReceiver(fixture.Context);
        using var gateway = new ScriptedGateway(fixture.Context, receiver.Bind("tcp://127.0.0.1:*"));
        using var stop = new CancellationTokenSource();
        Task serving = receiver.ServeAsync(static async (_, cancellationToken) =>
            await Task.Delay(Timeout.InfiniteTimeSpan, cancellationToken), maxConcurrency: 1, stop.Token);

        gateway.Request(1, "begun");
        gateway.Request(2, "not begun");
        await Guard.UntilAsync(() => receiver.GetStatistics().Requests == 2, "both have come");
        await Assert.ThrowsAsync<InvalidOperationException>(async () => await receiver.ReceiveAsync(Guard.Token));
        await Assert.ThrowsAsync<InvalidOperationException>(
            () => receiver.ServeAsync(Echo, cancellationToken: TestContext.Current.CancellationToken));
        await stop.CancelAsync();

        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => serving.Guarded());
        var answers = new[] { await gateway.ReceiveAsync(), await gateway.ReceiveAsync() }.OrderBy(static answer => answer.Id).ToArray();
        Assert.Equal((EnvelopeKind.Failed, EnvelopeKind.Refused), (answers[0].Kind, answers[1].Kind));
        Assert.Equal(RefusalCode.Stopped, answers[1].Code);

        gateway.Request(3, "by hand");
        using ServiceRequest request = await receiver.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal(TimeSpan.FromSeconds(0), request.TimeLeft ?? TimeSpan.Zero);
    }

    [Fact]
    public async Task Many_are_received_at_once_and_cancels_are_not_among_them()
    {
        await using var fixture = new ContextFixture();
        await using var receiver = new ServiceReceiver(fixture.Context);
        using var gateway = new ScriptedGateway(fixture.Context, receiver.Bind("tcp://127.0.0.1:*"));
        gateway.Cancel(1);
        for (ulong id = 1; id <= 10; id++)
        {
            gateway.Request(id, $"{id}");
        }

        var requests = new ServiceRequest[16];
        int count = 0;
        while (count < 10)
        {
            count += await receiver.ReceiveManyAsync(requests.AsMemory(count), Guard.Token).Guarded();
        }

        Assert.Equal(Enumerable.Range(1, 10).Select(static i => $"{i}"),
            requests.Take(count).Select(static request => Encoding.UTF8.GetString(request.Span)), StringComparer.Ordinal);
        Assert.Equal(0, receiver.ReceiveMany(requests.AsSpan(count)));
        Array.ForEach(requests[..count], static request => request.Dispose());
        Assert.Equal(0, receiver.GetStatistics().Running);
    }

    [Fact]
    public async Task Two_requests_of_one_connection_with_one_id_are_one()
    {
        await using var fixture = new ContextFixture();
        await using var receiver = new ServiceReceiver(fixture.Context);
        using var gateway = new ScriptedGateway(fixture.Context, receiver.Bind("tcp://127.0.0.1:*"));
        gateway.Request(1, "first");
        gateway.Request(1, "again");
        gateway.Request(2, "second");

        using ServiceRequest first = await receiver.ReceiveAsync(Guard.Token).Guarded();
        using ServiceRequest second = await receiver.ReceiveAsync(Guard.Token).Guarded();

        Assert.Equal("second", Encoding.UTF8.GetString(second.Span));
        Assert.Equal(1, receiver.GetStatistics().DuplicateIds);
    }

    private static ValueTask Ignore(bool isSent)
    {
        Assert.True(isSent);
        return default;
    }

    private static void Release(ConcurrentQueue<TaskCompletionSource> waiting)
    {
        Assert.True(waiting.TryDequeue(out TaskCompletionSource? release));
        release.SetResult();
    }

    private static async Task<(EnvelopeKind? Kind, ushort Code)> KindAndCodeAsync(ScriptedGateway gateway)
    {
        ScriptedGateway.Answer answer = await gateway.ReceiveAsync();
        return (answer.Kind, answer.Code);
    }
}
