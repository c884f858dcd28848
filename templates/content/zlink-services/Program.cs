using Net.Zlink.Extensions.Hosting;
using Net.Zlink.Services;
using ZlinkApp1;

WebApplicationBuilder builder = WebApplication.CreateBuilder(args);
builder.AddQuotes();
WebApplication app = builder.Build();
app.MapHealthChecks("/health");
app.MapGet("/quotes/{currency}", async (string currency, [FromKeyedServices("quotes")] RequestClient quotes, CancellationToken end) =>
    await quotes.RequestAsync<Ask, Quote>(new Ask(currency), cancellationToken: end));
return await app.RunZlinkAsync(); // A wrong setting is one message and exit code 1.
