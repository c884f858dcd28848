using Net.Zlink.Extensions.Hosting;
using ZlinkApp1;

WebApplicationBuilder builder = WebApplication.CreateBuilder(args);
builder.AddFeed();
WebApplication app = builder.Build();
app.UseFileServer(); // The page is wwwroot/index.html.
app.MapFeed();
app.MapHealthChecks("/health");
return await app.RunZlinkAsync(); // A wrong setting is one message and exit code 1.
