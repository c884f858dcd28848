using Net.Zlink.Extensions.Hosting;
using FrameServer1;

HostApplicationBuilder builder = Host.CreateApplicationBuilder(args);
builder.Services.AddZlink(builder.Configuration.GetSection("Zlink"));
builder.Services.AddZlinkStream("tcp://*:5556", stream => stream.UseHandler<EchoHandler>());
await builder.Build().RunAsync();
