using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Net.Zlink.Services;
using Xunit;

namespace ZlinkApp1.Tests;

public sealed class QuoteTests
{
    [Fact]
    public async Task The_client_gets_the_price_that_the_receiver_made()
    {
        CancellationToken cancellation = TestContext.Current.CancellationToken;
        HostApplicationBuilder builder = Host.CreateEmptyApplicationBuilder(null);
        string endpoint = $"ipc://{Path.Combine(Path.GetTempPath(), Path.GetRandomFileName())}"; // Both sides know it before the start.
        builder.Configuration["Zlink:Receivers:quotes:Bind"] = endpoint;
        builder.Configuration["Zlink:Clients:quotes:Connect"] = endpoint;
        builder.AddQuotes();
        using IHost host = builder.Build();
        await host.StartAsync(cancellation);

        RequestClient quotes = host.Services.GetRequiredKeyedService<RequestClient>("quotes");
        Quote quote = await quotes.RequestAsync<Ask, Quote>(new Ask("EUR"), TimeSpan.FromSeconds(5), cancellation);
        Assert.Equal(new Quote("EUR", 1.17m), quote);
        await host.StopAsync(cancellation);
    }
}
