using System.Net;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Net.Zlink.Extensions.Hosting;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Extensions.Tests;

/// <summary>The same in a web application: an endpoint that asks over a socket, and <c>/health</c>.</summary>
public sealed class WebApplicationTests
{
    [Fact]
    public async Task A_web_application_uses_a_socket_by_its_key_and_reports_its_health()
    {
        await using var backend = new ZlinkContext();
        using RouterSocket router = backend.CreateRouter();
        string endpoint = router.Bind("tcp://127.0.0.1:*");

        WebApplicationBuilder builder = WebApplication.CreateSlimBuilder();
        builder.WebHost.UseUrls("http://127.0.0.1:0");
        builder.Configuration.AddInMemoryCollection([new("Zlink:Sockets:jobs:Connect", endpoint)]);
        builder.Services.AddZlink(builder.Configuration.GetSection("Zlink")).AddHealthCheck();
        builder.Services.AddZlinkDealer("jobs").AddHealthCheck();
        await using WebApplication app = builder.Build();
        app.MapHealthChecks("/health");
        app.MapGet("/ask", async ([FromKeyedServices("jobs")] DealerSocket dealer, CancellationToken cancellation) =>
        {
            await dealer.SendAsync("question", cancellation);
            using Message reply = await dealer.ReceiveAsync(cancellation);
            return reply.GetString();
        });
        await app.StartAsync(Guard.Token).Guarded();
        using var http = new HttpClient { BaseAddress = new Uri(app.Urls.Single()) };

        Task<string> answer = http.GetStringAsync("/ask", Guard.Token);
        using (Message question = await router.ReceiveAsync(Guard.Token).Guarded())
        {
            await router.To(question.RoutingId).SendAsync($"{question.GetString()}: 42", Guard.Token).Guarded();
        }

        Assert.Equal("question: 42", await answer.Guarded());
        Assert.Equal(HttpStatusCode.OK, (await http.GetAsync("/health", Guard.Token).Guarded()).StatusCode);
        router.Unbind(endpoint);
        await Guard.UntilAsync(
            () => app.Services.GetRequiredKeyedService<DealerSocket>("jobs").GetPeers() is [{ IsConnected: false }], "the peer is gone");
        Assert.Equal(HttpStatusCode.ServiceUnavailable, (await http.GetAsync("/health", Guard.Token).Guarded()).StatusCode);
        await app.StopAsync(Guard.Token).Guarded();
    }
}
