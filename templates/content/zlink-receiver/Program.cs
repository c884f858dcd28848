using Net.Zlink.Extensions.Hosting;
using EchoReceiver1;

HostApplicationBuilder builder = Host.CreateApplicationBuilder(args);
builder.Services.AddZlink(builder.Configuration.GetSection("Zlink"));
builder.Services.AddHostedService<EchoService>();
await builder.Build().RunAsync();
