using Net.Zlink.Extensions.Hosting;
using EchoReceiver1;

// It registers when all has started, and drains when the host stops: no request fails by that.
HostApplicationBuilder builder = Host.CreateApplicationBuilder(args);
builder.Services.AddZlink(builder.Configuration.GetSection("Zlink"));
builder.Services.AddZlinkJson(Contracts.Default);
builder.Services.AddZlinkReceiver<EchoHandler, EchoRequest, EchoReply>("echo").AddHealthCheck(); // appsettings.json has its endpoints.
return await builder.Build().RunZlinkAsync(); // A wrong setting is one message and exit code 1.
