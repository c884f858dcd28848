using System.Collections.Concurrent;
using System.Text;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests;

public class ExpiredRequestTests
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    [Fact]
    public async Task A_receiver_that_was_stopped_executes_no_request_whose_time_is_over()
    {
        // A relay that holds what it gets: to the receiver that is the same as if it had been stopped, and time passes between sending and
        // arrival.
        var clock = new ManualTimeProvider();
        await using var fixture = new ContextFixture(time: clock);
        await using var receiver = new ServiceReceiver(fixture.Context);
        using var relay = new HoldingRelay(receiver.Bind("tcp://127.0.0.1:*"));
        using var gateway = new ScriptedGateway(fixture.Context, relay.Endpoint);
        var executed = new ConcurrentQueue<string>();
        _ = receiver.ServeAsync(
            (request, _) =>
            {
                executed.Enqueue(Encoding.UTF8.GetString(request.Span));
                request.TryReply(default(ReadOnlySpan<byte>));
                return default;
            },
            cancellationToken: Guard.Token);

        // The clock of the gateway differs by an hour, which says nothing.
        DateTimeOffset GatewayTime() => clock.GetUtcNow() - TimeSpan.FromHours(1);
        gateway.Request(1, "fresh", 5 * Second, GatewayTime());
        Assert.Equal(EnvelopeKind.Reply, (await gateway.ReceiveAsync()).Kind);

        relay.Hold();
        for (ulong id = 2; id < 60; id++)
        {
            gateway.Request(id, "late", 5 * Second, GatewayTime());
        }

        gateway.Request(60, "patient", 120 * Second, GatewayTime());
        await Guard.UntilAsync(() => relay.HeldBytes > 0, "the relay holds them");
        clock.Advance(60 * Second);
        gateway.Request(61, "fresh again", 5 * Second, GatewayTime());
        relay.Release();

        for (int i = 2; i < 60; i++)
        {
            Assert.Equal((EnvelopeKind.Refused, RefusalCode.Expired), await KindAndCodeAsync(gateway));
        }

        Assert.Equal(60ul, (await gateway.ReceiveAsync()).Id);
        Assert.Equal(61ul, (await gateway.ReceiveAsync()).Id);
        Assert.Equal(["fresh", "patient", "fresh again"], executed, StringComparer.Ordinal);
        Assert.Equal(58, receiver.GetStatistics().Expired);
    }

    [Fact]
    public async Task A_request_whose_time_ends_while_it_waits_for_a_handler_is_refused()
    {
        var clock = new ManualTimeProvider();
        await using var fixture = new ContextFixture(time: clock);
        await using var receiver = new ServiceReceiver(fixture.Context);
        using var gateway = new ScriptedGateway(fixture.Context, receiver.Bind("tcp://127.0.0.1:*"));
        var release = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        _ = receiver.ServeAsync(
            async (request, _) =>
            {
                await release.Task;
                request.TryReply("done"u8);
            },
            maxConcurrency: 1,
            Guard.Token);

        gateway.Request(1, "patient", 60 * Second);
        gateway.Request(2, "in a hurry", Second);
        await Guard.UntilAsync(() => receiver.GetStatistics().Requests == 2, "both have come");
        clock.Advance(Second);
        release.SetResult();

        Assert.Equal((EnvelopeKind.Reply, (ushort)0), await KindAndCodeAsync(gateway));
        Assert.Equal((EnvelopeKind.Refused, RefusalCode.Expired), await KindAndCodeAsync(gateway));
    }

    [Fact]
    public async Task A_request_for_a_service_that_was_never_registered_here_is_refused()
    {
        await using var fixture = new ContextFixture();
        await using var receiver = new ServiceReceiver(fixture.Context);
        using var gateway = new ScriptedGateway(fixture.Context, receiver.Bind("tcp://127.0.0.1:*"));
        ServiceRegistration registration = receiver.Register("mine");
        await registration.DisposeAsync();
        gateway.Request(1, "x", service: "theirs");
        gateway.Request(2, "x", service: "mine");
        gateway.Request(3, "x");

        using ServiceRequest request = await receiver.ReceiveAsync(Guard.Token).Guarded();
        using ServiceRequest unnamed = await receiver.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal(("mine", ""), (request.Service, unnamed.Service));
        Assert.Equal(new ScriptedGateway.Answer(EnvelopeKind.Refused, EnvelopeFlags.None, RefusalCode.NotServed, 1,
            ReceiverRequests.TextOf(RefusalCode.NotServed)), await gateway.ReceiveAsync());
    }

    [Theory]
    [InlineData(-10)] // The gateway's machine stood still, or its clock was set back.
    [InlineData(10)]
    public async Task A_clock_that_jumps_costs_the_requests_of_a_second_and_the_refusal_says_so(int seconds)
    {
        var clock = new ManualTimeProvider();
        await using var fixture = new ContextFixture(time: clock);
        await using var receiver = new ServiceReceiver(fixture.Context);
        using var gateway = new ScriptedGateway(fixture.Context, receiver.Bind("tcp://127.0.0.1:*"));
        _ = receiver.ServeAsync(
            static (request, _) =>
            {
                request.TryReply("done"u8);
                return default;
            },
            cancellationToken: Guard.Token);
        TimeSpan moved = TimeSpan.Zero;
        var refused = new List<string>();
        for (ulong id = 1; id <= 40; id++)
        {
            gateway.Request(id, "x", Second, clock.GetUtcNow() + moved);
            ScriptedGateway.Answer answer = await gateway.ReceiveAsync();
            refused.AddRange(answer.Kind == EnvelopeKind.Refused ? [answer.Text] : []);
            clock.Advance(TimeSpan.FromMilliseconds(200));
            moved = id == 10 ? seconds * Second : moved;
        }

        Assert.InRange(refused.Count, seconds < 0 ? 1 : 0, seconds < 0 ? 5 : 0);
        Assert.All(refused, static text => Assert.Contains("a clock was set", text, StringComparison.Ordinal));
    }

    private static async Task<(EnvelopeKind? Kind, ushort Code)> KindAndCodeAsync(ScriptedGateway gateway)
    {
        ScriptedGateway.Answer answer = await gateway.ReceiveAsync();
        return (answer.Kind, answer.Code);
    }
}
