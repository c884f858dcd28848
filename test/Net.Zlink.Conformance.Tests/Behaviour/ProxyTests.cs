using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native test_proxy: a ROUTER and a DEALER between three clients and five workers.</summary>
public sealed class ProxyTests
{
    private const int Clients = 3;
    private const int Workers = 5;
    private const int RequestsOfEach = 20;

    [Fact]
    public async Task Every_client_gets_the_answers_to_its_requests_and_the_proxy_ends_with_the_context()
    {
        await using var fixture = new StreamFixture();
        RouterSocket front = fixture.Context.CreateRouter();
        DealerSocket back = fixture.Context.CreateDealer();
        string frontEndpoint = front.Bind(Link.Any(Link.Tcp));
        string backEndpoint = back.Bind(Link.Any(Link.Inproc));
        var proxy = new SocketProxy(front, back);
        Task running = proxy.RunAsync(Guard.Token);
        var workers = new List<Task>();
        for (int i = 0; i < Workers; i++)
        {
            RouterSocket worker = fixture.Context.CreateRouter();
            worker.Connect(backEndpoint);
            workers.Add(WorkAsync(worker));
        }

        var clients = new List<Task>();
        for (int i = 0; i < Clients; i++)
        {
            DealerSocket client = fixture.Context.CreateDealer();
            client.Connect(frontEndpoint);
            clients.Add(AskAsync(client));
        }

        await Task.WhenAll(clients).Guarded();
        ProxyStatistics statistics = proxy.GetStatistics();
        Assert.Equal(Clients * RequestsOfEach, statistics.FrontReceived.Messages);
        Assert.Equal(Clients * RequestsOfEach, statistics.BackReceived.Messages);

        await fixture.Context.ShutdownAsync(Guard.Limit, Guard.Token).Guarded();
        await Task.WhenAll(workers).Guarded();
        Exception? end = await Record.ExceptionAsync(() => running.Guarded());
        Assert.True(end is null or ZlinkException { Error: ZlinkError.ContextTerminated }, $"the proxy ended with {end}");
    }

    private static async Task AskAsync(DealerSocket client)
    {
        for (int i = 0; i < RequestsOfEach; i++)
        {
            client.Say($"request #{i}");
            Assert.StartsWith("request #", await client.HearOneAsync(), StringComparison.Ordinal);
        }
    }

    /// <summary>Sends each request back where it came from: behind the proxy's own id comes the client's.</summary>
    private static async Task WorkAsync(RouterSocket worker)
    {
        await foreach (Message request in worker.ReceiveAllAsync(Guard.Token))
        {
            byte[] proxy = request.RoutingId.ToArray();
            await worker.To(proxy).SendAsync(request, Guard.Token);
        }
    }
}
