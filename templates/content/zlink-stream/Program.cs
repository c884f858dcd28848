using Net.Zlink.Extensions.Hosting;
using FrameServer1;

HostApplicationBuilder builder = Host.CreateApplicationBuilder(args);
builder.Services.AddZlink(builder.Configuration.GetSection("Zlink"));
builder.Services.AddZlinkStream("tcp://*:5556", stream => stream.UseHandler<EchoHandler>());
return await builder.Build().RunZlinkAsync(); // A wrong setting is one message and exit code 1.
