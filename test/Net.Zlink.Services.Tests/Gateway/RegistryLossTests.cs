using System.Text;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests;

public class RegistryLossTests
{
    [Fact]
    public async Task A_registry_that_dies_under_load_costs_no_request()
    {
        await using var fixture = new ContextFixture();
        var registry = new Registry(fixture.Context,
            new RegistryOptions { PublisherEndpoint = "tcp://127.0.0.1:*", RouterEndpoint = "tcp://127.0.0.1:*" });
        registry.Start();
        await using var discovery = new Discovery(fixture.Context);
        discovery.ConnectRegistry(registry.PublisherEndpoint);
        var receivers = new List<Receiver>();
        for (int i = 0; i < 3; i++)
        {
            var receiver = new Receiver(fixture.Context);
            receivers.Add(receiver);
            receiver.Bind("tcp://127.0.0.1:*");
            receiver.ConnectRegistry(registry.RouterEndpoint);
            await receiver.RegisterAsync("svc", cancellationToken: Guard.Token).Guarded();
            _ = receiver.ServeAsync(static (request, cancellationToken) => request.ReplyAsync(request.Memory, cancellationToken),
                cancellationToken: Guard.Token);
        }

        await using var gateway = new Gateway(fixture.Context, discovery);
        ServiceClient client = gateway.GetService("svc");
        await client.WaitUntilReadyAsync(3, Guard.Token).Guarded();
        using var stop = new CancellationTokenSource();
        Task[] load = [.. Enumerable.Range(0, 8).Select(_ => Task.Run(async () =>
        {
            for (int i = 0; !stop.IsCancellationRequested; i++)
            {
                byte[] text = Encoding.UTF8.GetBytes($"{i}");
                using ServiceReply reply = await client.RequestAsync(text, Guard.Limit);
                Assert.True(reply.Span.SequenceEqual(text));
            }
        }))];

        await fixture.UntilAsync(() => gateway.GetStatistics().AnsweredRequests > 500);
        await registry.DisposeAsync().Guarded();
        long before = gateway.GetStatistics().AnsweredRequests;
        await fixture.UntilAsync(() => gateway.GetStatistics().AnsweredRequests > before + 2_000);
        await stop.CancelAsync();
        await Task.WhenAll(load).Guarded();

        Assert.Equal(3, client.ReadyCount);
        GatewayStatistics statistics = gateway.GetStatistics();
        Assert.Equal(statistics.StartedRequests, statistics.AnsweredRequests);
        foreach (Receiver receiver in receivers)
        {
            await receiver.DisposeAsync().Guarded();
        }
    }
}
