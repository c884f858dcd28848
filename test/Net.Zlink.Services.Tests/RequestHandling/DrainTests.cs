using System.Collections.Concurrent;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests;

public class DrainTests
{
    private static readonly Func<ServiceRequest, CancellationToken,
        ValueTask> Echo = static (request, cancellationToken) => request.ReplyAsync(request.Memory, cancellationToken);

    [Fact]
    public async Task A_drain_unregisters_tells_with_each_reply_then_refuses_and_ends_when_idle()
    {
        var clock = new ManualTimeProvider();
        await using var fixture = new ContextFixture(time: clock);
        using var registry = new ScriptedRegistry(fixture.Context);
        await using var receiver = new ServiceReceiver(fixture.Context);
        string endpoint = receiver.Bind("tcp://127.0.0.1:*");
        using var gateway = new ScriptedGateway(fixture.Context, endpoint);
        receiver.ConnectRegistry(registry.RouterEndpoint);
        await receiver.RegisterAsync("echo", cancellationToken: Guard.Token).Guarded();
        var release = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        _ = receiver.ServeAsync(
            async (request, cancellationToken) =>
            {
                if (request.Span.SequenceEqual("slow"u8))
                {
                    await release.Task;
                }

                await request.ReplyAsync(request.Memory, cancellationToken);
            },
            cancellationToken: Guard.Token);
        gateway.Request(1, "before");
        Assert.Equal(EnvelopeFlags.None, (await gateway.ReceiveAsync()).Flags);

        Task<DrainReport> draining = receiver.DrainAsync(cancellationToken: Guard.Token);
        await registry.WaitForAsync($"UNREGISTER echo {endpoint}");
        await Assert.ThrowsAsync<InvalidOperationException>(
            () => receiver.DrainAsync(cancellationToken: TestContext.Current.CancellationToken));
        Assert.Throws<InvalidOperationException>(() => receiver.Register("late"));
        gateway.Request(2, "accepted");
        gateway.Request(3, "slow");
        Assert.Equal(new ScriptedGateway.Answer(EnvelopeKind.Reply, EnvelopeFlags.Draining, 0, 2, "accepted"),
            await gateway.ReceiveAsync());
        await Guard.UntilAsync(() => receiver.GetStatistics().Requests == 3, "the slow one has come");

        await AdvanceAsync(clock, TimeSpan.FromSeconds(1), () => receiver.Describe().Contains("refusing", StringComparison.Ordinal));
        gateway.Request(4, "refused");
        ScriptedGateway.Answer refusal = await gateway.ReceiveAsync();
        Assert.Equal((EnvelopeKind.Refused, EnvelopeFlags.Draining, RefusalCode.Draining, 4ul),
            (refusal.Kind, refusal.Flags, refusal.Code, refusal.Id));
        clock.Advance(TimeSpan.FromSeconds(5));
        Assert.False(draining.IsCompleted);
        release.SetResult();
        Assert.Equal(3ul, (await gateway.ReceiveAsync()).Id);
        await AdvanceAsync(clock, TimeSpan.FromMilliseconds(100), () => draining.IsCompleted);

        DrainReport report = await draining.Guarded();
        Assert.Equal((2, 1, 0, true), (report.Accepted, report.Refused, report.Unfinished, report.IsIdle));
        ScriptedGateway.Answer end = await gateway.ReceiveAsync();
        Assert.Equal((EnvelopeKind.Refused, EnvelopeFlags.Draining, RefusalCode.Draining, RequestEnvelope.AllIds),
            (end.Kind, end.Flags, end.Code, end.Id));
    }

    [Fact]
    public async Task A_drain_that_ends_while_a_request_runs_does_not_say_that_nothing_more_is_executed()
    {
        await using var fixture = new ContextFixture();
        await using var receiver = new ServiceReceiver(fixture.Context);
        using var gateway = new ScriptedGateway(fixture.Context, receiver.Bind("tcp://127.0.0.1:*"));
        gateway.Request(1, "unanswered");
        using ServiceRequest request = await receiver.ReceiveAsync(Guard.Token).Guarded();

        var options = new DrainOptions { MinDelay = TimeSpan.Zero, Deadline = TimeSpan.FromMilliseconds(1) };
        await receiver.DrainAsync(options, Guard.Token).Guarded();
        Assert.True(request.TryReply("y"u8));

        Assert.Equal((EnvelopeKind.Reply, 1ul), (await gateway.ReceiveAsync()) is var answer ? (answer.Kind, answer.Id) : default);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)] // Its time is over at the receiver; the gateway may still wait.
    public async Task A_gateway_that_may_wait_for_an_executed_request_is_not_told_that_none_was(bool isExpired)
    {
        var clock = new ManualTimeProvider();
        await using var fixture = new ContextFixture(time: clock);
        await using var receiver = new ServiceReceiver(fixture.Context);
        using var gateway = new ScriptedGateway(fixture.Context, receiver.Bind("tcp://127.0.0.1:*"));
        gateway.Request(1, "executed", TimeSpan.FromSeconds(1));
        ServiceRequest request = await receiver.ReceiveAsync(Guard.Token).Guarded();
        clock.Advance(isExpired ? TimeSpan.FromSeconds(1) : TimeSpan.Zero);
        request.Dispose();
        gateway.SendPlain("x");
        using ServiceRequest plain = await receiver.ReceiveAsync(Guard.Token).Guarded();

        await receiver.DrainAsync(new DrainOptions { MinDelay = TimeSpan.Zero, IdleTime = TimeSpan.Zero }, Guard.Token).Guarded();
        Assert.True(plain.TryReply("last"u8));

        var answers = new List<ScriptedGateway.Answer>();
        while (answers is [] || answers[^1].Text is not "last")
        {
            answers.Add(await gateway.ReceiveAsync());
        }

        // Either it heard that the request failed, and that no other was executed; or it hears nothing.
        Assert.Equal(isExpired ? [0ul] : [1ul, RequestEnvelope.AllIds, 0ul], answers.Select(static answer => answer.Id));
    }

    [Fact]
    public async Task A_peer_that_sent_no_request_is_not_told_of_the_end_of_a_drain()
    {
        await using var fixture = new ContextFixture();
        await using var receiver = new ServiceReceiver(fixture.Context);
        string endpoint = receiver.Bind("tcp://127.0.0.1:*");
        using var plain = new ScriptedGateway(fixture.Context, endpoint);
        plain.SendPlain("x");
        using ServiceRequest message = await receiver.ReceiveAsync(Guard.Token).Guarded();
        message.Dispose();

        var options = new DrainOptions { MinDelay = TimeSpan.Zero, IdleTime = TimeSpan.FromMilliseconds(1) };
        await receiver.DrainAsync(options, Guard.Token).Guarded();
        receiver.Socket.To(receiver.Socket.GetPeers()[0].RoutingId).Send("next"u8);

        Assert.Equal("next", (await plain.ReceiveAsync()).Text);
    }

    [Fact]
    public async Task A_drain_ends_at_its_deadline_whatever_runs()
    {
        var clock = new ManualTimeProvider();
        await using var fixture = new ContextFixture(time: clock);
        await using var receiver = new ServiceReceiver(fixture.Context);
        using var gateway = new ScriptedGateway(fixture.Context, receiver.Bind("tcp://127.0.0.1:*"));
        _ = receiver.ServeAsync(static async (_, cancellationToken) => await Task.Delay(Timeout.InfiniteTimeSpan, cancellationToken),
            cancellationToken: Guard.Token);
        gateway.Request(1, "for ever", TimeSpan.FromHours(1));
        await Guard.UntilAsync(() => receiver.GetStatistics().Running == 1, "it runs");

        Task<DrainReport> draining = receiver.DrainAsync(new DrainOptions { Deadline = TimeSpan.FromSeconds(3) }, Guard.Token);
        await AdvanceAsync(clock, TimeSpan.FromSeconds(1), () => draining.IsCompleted);

        DrainReport report = await draining.Guarded();
        Assert.Equal((1, false), (report.Unfinished, report.IsIdle));
        Assert.True(report.Duration >= TimeSpan.FromSeconds(3));
        gateway.Cancel(1);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)] // A registry that cannot be reached must not hold the drain up.
    public async Task A_drain_under_load_answers_or_refuses_every_request(bool withDeadRegistry)
    {
        await using var fixture = new ContextFixture();
        await using var receiver = new ServiceReceiver(fixture.Context);
        using var gateway = new ScriptedGateway(fixture.Context, receiver.Bind("tcp://127.0.0.1:*"));
        if (withDeadRegistry)
        {
            using RawListener dead = fixture.Listen();
            receiver.ConnectRegistry(dead.Endpoint);
            receiver.Register("echo");
        }

        _ = receiver.ServeAsync(Echo, cancellationToken: Guard.Token);
        var answers = new ConcurrentDictionary<ulong, EnvelopeKind>();
        ulong sent = 0;
        bool isOver = false;
        bool isAllSent = false;
        Task sending = Task.Run(
            async () =>
            {
                while (!Volatile.Read(ref isOver))
                {
                    gateway.Request(++sent, "x", service: withDeadRegistry ? "echo" : "");
                    await Guard.UntilAsync(() => (int)sent - answers.Count < 200, "answers come");
                }
            },
            Guard.Token);
        Task receiving = Task.Run(
            async () =>
            {
                while (!Volatile.Read(ref isAllSent) || answers.Count < (int)Volatile.Read(ref sent))
                {
                    ScriptedGateway.Answer answer = await gateway.ReceiveAsync();
                    Assert.True(answer.Id == RequestEnvelope.AllIds || answers.TryAdd(answer.Id, answer.Kind!.Value));
                }
            },
            Guard.Token);
        await Guard.UntilAsync(() => answers.Count > 100, "it is under load");

        DrainReport report = await receiver.DrainAsync(
            new DrainOptions { MinDelay = TimeSpan.FromMilliseconds(100), IdleTime = TimeSpan.FromMilliseconds(20) }, Guard.Token)
            .Guarded();

        await Guard.UntilAsync(() => answers.Values.Count(static kind => kind == EnvelopeKind.Refused) > 10,
            "requests behind it are refused");
        Volatile.Write(ref isOver, true);
        await sending.Guarded();
        sent++;
        Volatile.Write(ref isAllSent, true);
        gateway.Request(sent, "last"); // Its answer wakes the loop that receives.
        await receiving.Guarded();
        Assert.True(report.IsIdle);
        Assert.DoesNotContain(EnvelopeKind.Failed, answers.Values);
        Assert.Equal(answers.Values.Count(static kind => kind == EnvelopeKind.Reply), (int)receiver.GetStatistics().Replies);
        Assert.Equal((int)sent, answers.Count);
    }

    [Fact]
    public async Task What_was_answered_before_the_end_arrives()
    {
        for (int round = 0; round < 20; round++)
        {
            await using var fixture = new ContextFixture(shards: 1);
            await using var receiver = new ServiceReceiver(fixture.Context);
            using var gateway = new ScriptedGateway(fixture.Context, receiver.Bind("tcp://127.0.0.1:*"));
            const int Requests = 100;
            for (ulong id = 1; id <= Requests; id++)
            {
                gateway.Request(id, "x");
            }

            for (int i = 0; i < Requests; i++)
            {
                using ServiceRequest request = await receiver.ReceiveAsync(Guard.Token).Guarded();
                Assert.True(request.TryReply("y"u8));
            }

            await receiver.DisposeAsync();
            for (ulong id = 1; id <= Requests; id++)
            {
                Assert.Equal(id, (await gateway.ReceiveAsync()).Id);
            }
        }
    }

    private static async Task AdvanceAsync(ManualTimeProvider clock, TimeSpan step, Func<bool> until)
    {
        for (int i = 0; !until(); i++)
        {
            Assert.True(i < 1000, "it did not come");
            clock.Advance(step);
            for (int look = 0; look < 100 && !until(); look++)
            {
                await Task.Yield();
            }
        }
    }
}
