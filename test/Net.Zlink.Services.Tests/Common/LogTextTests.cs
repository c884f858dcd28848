using Net.Zlink.Tests.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests;

/// <summary>A line of the log names the service or the topic: who reads it has many of them.</summary>
public sealed class LogTextTests
{
    [Fact]
    public async Task Lines_about_receivers_and_their_handlers_name_the_service_and_no_reason_outlasts_its_cause()
    {
        var log = new RecordingLoggers();
        await using var fixture = new ContextFixture(log: log);
        ServiceReceiver receiver = fixture.Own(new ServiceReceiver(fixture.Context));
        string endpoint = receiver.Bind("tcp://127.0.0.1:*");
        _ = receiver.ServeAsync(static (_, _) => throw new InvalidOperationException("at work"), cancellationToken: Guard.Token);
        await using var gateway = new ServiceGateway(fixture.Context, new StaticDirectory(new ServiceInstance("prices", endpoint)));
        ServiceClient client = gateway.GetClient("prices");
        await client.WaitUntilReadyAsync(1, Guard.Token).Guarded();
        await Assert.ThrowsAsync<ServiceException>(() => client.RequestAsync("x"u8.ToArray(), null, Guard.Token).AsTask().Guarded());
        await fixture.UntilAsync(() => log.TextsOf(2100).Any() && log.TextsOf(2200).Any());
        Assert.Contains("The handler of prices threw", Assert.Single(log.TextsOf(2100)), StringComparison.Ordinal);
        Assert.Equal($"The receiver of prices at {endpoint} is ready", Assert.Single(log.TextsOf(2200)));

        // A draining receiver announces its end with its replies. When it has ended, it is about to end no more.
        using var stop = new CancellationTokenSource();
        Task<DrainReport> drain = receiver.DrainAsync(new DrainOptions { MinDelay = Guard.Limit, Deadline = Guard.Limit }, stop.Token);
        await Assert.ThrowsAsync<ServiceException>(() => client.RequestAsync("x"u8.ToArray(), null, Guard.Token).AsTask().Guarded());
        await fixture.UntilAsync(() => client.GetReceivers() is [{ IsDraining: true, WhyNotReady: "the receiver is draining" }]);
        await receiver.DisposeAsync();
        await fixture.UntilAsync(() => client.GetReceivers() is [{ IsDraining: false }]);
        await fixture.UntilAsync(() => client.GetReceivers()[0].WhyNotReady!.Contains("no process listens", StringComparison.Ordinal));
        ServiceException lost = await Assert.ThrowsAsync<ServiceException>(
            () => client.RequestAsync("x"u8.ToArray(), null, Guard.Token).AsTask().Guarded());
        Assert.DoesNotContain("draining", lost.Message, StringComparison.Ordinal);
        await stop.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => drain.Guarded());
    }

    [Fact]
    public async Task Lines_about_subscribers_name_their_topics()
    {
        var log = new RecordingLoggers();
        await using var fixture = new ContextFixture(log: log);
        await using var node = new SpotNode(fixture.Context);
        using SpotSubscriber slow = node.CreateSubscriber(new SpotSubscriberOptions { Capacity = 1 });
        slow.SubscribePrefix("price.");
        slow.Subscribe("orders");
        using SpotSubscriber failing = node.CreateSubscriber();
        failing.Subscribe("orders");
        await using IAsyncDisposable handling = failing.OnMessage(static (_, _) => throw new InvalidOperationException("at work"));
        for (int i = 0; i < 3; i++)
        {
            await node.PublishAsync("orders", "x"u8.ToArray(), Guard.Token);
        }

        await fixture.UntilAsync(() => log.TextsOf(2300).Any() && log.TextsOf(2305).Any());
        Assert.Contains("a message of the topic orders;", log.TextsOf(2300).First(), StringComparison.Ordinal);
        Assert.Contains("A subscriber of \"price.*\", \"orders\" reads too slowly", log.TextsOf(2305).First(), StringComparison.Ordinal);
    }
}
