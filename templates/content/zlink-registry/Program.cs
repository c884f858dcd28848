using Net.Zlink.Extensions.Hosting;
using Net.Zlink.Services;
using ZlinkApp1;

WebApplicationBuilder builder = WebApplication.CreateBuilder(args);
builder.AddRegistry();
WebApplication app = builder.Build();
app.MapHealthChecks("/health");
app.MapGet("/", (ServiceRegistry registry) => registry.Describe());
return await app.RunZlinkAsync(); // A wrong setting is one message and exit code 1.
