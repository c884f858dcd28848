using Net.Zlink.Extensions.Hosting;
using ZlinkApp1;

WebApplicationBuilder builder = WebApplication.CreateBuilder(args);
builder.AddFrames();
WebApplication app = builder.Build();
app.MapHealthChecks("/health");
return await app.RunZlinkAsync(); // A wrong setting is one message and exit code 1.
