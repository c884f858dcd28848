using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using NATS.Client.Core;
using Net.Zlink;
using Net.Zlink.AspNetCore;
using Net.Zlink.Extensions.Hosting;
using Net.Zlink.Extensions.Nats;
using Net.Zlink.Extensions.ServiceDiscovery;
using Net.Zlink.Porting;
using Net.Zlink.Services;
using PackageConsumer;

// Looks at the packages in a folder, then does something with each of them.
string[] faults = [.. Directory.EnumerateFiles(args[0], "*.nupkg").SelectMany(PackageContent.FaultsOf)];
foreach (string fault in faults)
{
    Console.Error.WriteLine(fault);
}

using var limit = new CancellationTokenSource(TimeSpan.FromSeconds(30));
await using var context = new ZlinkContext();
await using var publisher = new LastValuePublisher(context);
publisher.Publish("price", "1"u8);
SubSocket subscriber = context.CreateSub();
subscriber.Subscribe("price");
subscriber.Connect(publisher.Bind("tcp://127.0.0.1:*"));
NativeOptions.Set(subscriber, 24, 1000); // ZLINK_RCVHWM
faults = subscriber.Options.ReceiveHighWaterMark == 1000 ? faults : [.. faults, "an option by its native number is not set"];
using Message price = await subscriber.ReceiveAsync(limit.Token);

await using var receiver = new ServiceReceiver(context);
string endpoint = receiver.Bind("tcp://127.0.0.1:*");
Task serving = receiver.ServeAsync((request, cancellation) => request.ReplyAsync(request.Memory, cancellation));
var services = new ServiceCollection();
services.AddLogging().AddSingleton(context).AddSingleton<IConfiguration>(new ConfigurationBuilder()
    .AddInMemoryCollection([new KeyValuePair<string, string?>("Services:echo:tcp:0", endpoint)]).Build());
services.AddZlinkServiceDiscoveryDirectory();
await using ServiceProvider provider = services.BuildServiceProvider();
await using var gateway = new ServiceGateway(context, provider.GetRequiredService<IServiceDirectory>());
ServiceClient echo = gateway.GetClient("echo");
await echo.WaitUntilReadyAsync(cancellationToken: limit.Token);
using ServiceReply reply = await echo.RequestAsync("hello"u8.ToArray(), cancellationToken: limit.Token);

await using var nats = new NatsConnection(new NatsOpts { Url = "nats://127.0.0.1:1" });
await using (var directory = new NatsServiceDirectory(context, nats))
{
    faults = directory.GetService("echo").IsAvailable ? [.. faults, "a bucket that cannot be read has instances"] : faults;
}

HostApplicationBuilder builder = Host.CreateApplicationBuilder();
builder.Services.AddZlink();
builder.Services.AddZlinkRouter("jobs", "tcp://127.0.0.1:*").AddHealthCheck();
using (IHost host = builder.Build())
{
    await host.StartAsync(limit.Token);
    bool isBound = host.Services.GetRequiredKeyedService<RouterSocket>("jobs").BoundEndpoints.Count == 1;
    faults = isBound ? faults : [.. faults, "a hosted socket is not bound"];
    await host.StopAsync(limit.Token);
}

WebApplicationBuilder web = WebApplication.CreateSlimBuilder();
web.WebHost.UseUrls("http://127.0.0.1:0");
await using (WebApplication app = web.Build())
{
    app.MapZlink("/price", publisher.Socket);
    await app.StartAsync(limit.Token);
    await app.StopAsync(limit.Token);
}

await gateway.DisposeAsync();
await receiver.DisposeAsync();
await serving;
bool isRight = faults.Length == 0 && price[1].Span.SequenceEqual("1"u8) && reply.Span.SequenceEqual("hello"u8);
Console.WriteLine(isRight ? "the packages work" : "the packages do not work");
return isRight ? 0 : 1;
