// A service whose settings are all in appsettings.json, bound without reflection, so that it can be compiled ahead of time into one file.
// It prints its traces. With --Ask EUR it asks itself over tcp, checks that its settings have arrived, and ends.
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Net.Zlink;
using Net.Zlink.Extensions.Hosting;
using Net.Zlink.Extensions.OpenTelemetry;
using Net.Zlink.Services;
using OpenTelemetry.Trace;
using Samples.QuoteService;

HostApplicationBuilder builder = Host.CreateApplicationBuilder(
    new HostApplicationBuilderSettings { Args = args, ContentRootPath = AppContext.BaseDirectory });
builder.Services.Configure<PriceList>(builder.Configuration.GetSection(nameof(PriceList)));
builder.Services.AddZlink(builder.Configuration.GetSection("Zlink")).AddHealthCheck();
builder.Services.AddZlinkJson(Contracts.Default);
builder.Services.AddZlinkReceiver<Pricing, Ask, Quote>("quotes").AddHealthCheck();
builder.Services.AddOpenTelemetry().WithTracing(static tracing => tracing.AddZlinkInstrumentation().AddConsoleExporter());
using IHost host = builder.Build();
if (builder.Configuration["Ask"] is not { } currency)
{
    return await host.RunZlinkAsync(); // A wrong setting is one message and exit code 1.
}

await host.StartAsync();
RouterSocket socket = host.Services.GetRequiredKeyedService<ServiceReceiver>("quotes").Socket;
await using var client = new RequestClient(host.Services.GetRequiredService<ZlinkContext>(), socket.LastEndpoint,
    host.Services.GetRequiredService<IMessageSerializer>(), "quotes");
Quote quote = await client.RequestAsync<Ask, Quote>(new Ask(currency), TimeSpan.FromSeconds(5));
Console.WriteLine($"{quote.Currency} costs {quote.Price}; at most {socket.Options.SendHighWaterMark} messages wait for a peer");
await host.StopAsync();
return quote.Price > 0 && socket.Options.SendHighWaterMark == 1000 ? 0 : 1;
