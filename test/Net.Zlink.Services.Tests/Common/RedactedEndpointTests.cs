using System.Collections.Concurrent;
using System.Diagnostics;
using Net.Zlink.Tests.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests;

public sealed class RedactedEndpointTests
{
    [Fact]
    public async Task The_query_of_an_endpoint_is_in_no_span_log_description_or_exception()
    {
        var log = new RecordingLoggers();
        await using var fixture = new ContextFixture(log: log);
        ServiceReceiver receiver = fixture.Own(new ServiceReceiver(fixture.Context));
        string bound = receiver.Bind("ws://127.0.0.1:*/path");
        _ = receiver.ServeAsync(static (request, token) => request.ReplyAsync(request.Memory, token), cancellationToken: Guard.Token);
        var addresses = new ConcurrentQueue<string>();
        using var listener = new ActivityListener
        {
            ShouldListenTo = static source =>
                string.Equals(source.Name, ServicesInstrumentation.ActivitySourceName, StringComparison.Ordinal),
            Sample = static (ref ActivityCreationOptions<ActivityContext> _) => ActivitySamplingResult.AllData,
            ActivityStopped = span => addresses.Enqueue(string.Join(' ', span.TagObjects)),
        };
        ActivitySource.AddActivityListener(listener);
        var directory = new StaticDirectory(new ServiceInstance("svc", bound + "?token=secret"));
        await using var gateway = new ServiceGateway(fixture.Context, directory);
        ServiceClient client = gateway.GetClient("svc");
        await client.WaitUntilReadyAsync(1, Guard.Token).AsTask().Guarded();

        (await client.RequestAsync("x"u8.ToArray(), null, Guard.Token).AsTask().Guarded()).Dispose();
        string description = gateway.Describe();
        receiver.Dispose();
        Exception lost = await Assert.ThrowsAsync<ServiceException>(
            async () => await client.RequestAsync("x"u8.ToArray(), null, Guard.Token).AsTask().Guarded());

        string shown = $"{bound}?…";
        Assert.Contains(addresses, tags => tags.Contains(
            $"[server.address, 127.0.0.1] [server.port, {ZlinkEndpoint.Parse(bound).Port}]", StringComparison.Ordinal));
        Assert.Contains(shown, description, StringComparison.Ordinal);
        Assert.Contains(shown, lost.Message, StringComparison.Ordinal);
        Assert.Contains(log.TextsOf(2200), text => text.Contains(shown, StringComparison.Ordinal));
        Assert.All([description, lost.Message, .. addresses, .. log.Lines.Select(static line => line.Text)],
            static text => Assert.DoesNotContain("secret", text, StringComparison.Ordinal));
    }

    [Fact]
    public async Task A_receiver_that_cannot_be_reached_is_lost_also_where_its_endpoint_has_a_query()
    {
        await using var fixture = new ContextFixture();
        string endpoint;
        using (RouterSocket socket = fixture.Context.CreateRouter())
        {
            endpoint = socket.Bind("ws://127.0.0.1:*/path") + "?token=secret";
        }

        await using var gateway = new ServiceGateway(fixture.Context, new StaticDirectory(new ServiceInstance("svc", endpoint)));
        gateway.GetClient("svc");

        await fixture.UntilAsync(() => gateway.GetReceivers() is [{ WhyNotReady: not (null or "connecting") }]);
        Assert.DoesNotContain("secret", gateway.Describe(), StringComparison.Ordinal);
    }
}
