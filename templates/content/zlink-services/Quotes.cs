using System.Text.Json.Serialization;
using Net.Zlink.Extensions.Hosting;
using Net.Zlink.Services;

namespace ZlinkApp1;

internal static class Quotes
{
    /// <summary>Both sides in one program. For two programs, give each its half of these lines and of appsettings.json.</summary>
    public static void AddQuotes(this IHostApplicationBuilder builder)
    {
        builder.Services.AddZlink(builder.Configuration.GetSection("Zlink"));
        builder.Services.AddZlinkJson(Contracts.Default);

        builder.Services.AddZlinkReceiver<Pricing, Ask, Quote>("quotes").AddHealthCheck();  // answers

        builder.Services.AddZlinkClient("quotes").AddHealthCheck();                         // asks
        builder.Services.AddHostedService<Asker>();
    }
}

public sealed record Ask(string Currency);

public sealed record Quote(string Currency, decimal Price);

/// <summary>Answers each request; made for each, with a scope of services of its own.</summary>
internal sealed class Pricing : IRequestHandler<Ask, Quote>
{
    public ValueTask<Quote> HandleAsync(Ask ask, CancellationToken cancellationToken) =>
        ValueTask.FromResult(new Quote(ask.Currency, ask.Currency == "EUR" ? 1.17m : 1m));
}

/// <summary>Asks once in ten seconds.</summary>
internal sealed class Asker([FromKeyedServices("quotes")] RequestClient quotes, ILogger<Asker> logger) : BackgroundService
{
    protected override async Task ExecuteAsync(CancellationToken stoppingToken)
    {
        using var timer = new PeriodicTimer(TimeSpan.FromSeconds(10));
        do
        {
            try
            {
                Quote quote = await quotes.RequestAsync<Ask, Quote>(new Ask("EUR"), TimeSpan.FromSeconds(5), stoppingToken);
                logger.LogInformation("{Currency} costs {Price}", quote.Currency, quote.Price);
            }
            catch (Exception e) when (e is ServiceException or TimeoutException)
            {
                logger.LogWarning("No answer: {Reason}", e.Message);
            }
        }
        while (await timer.WaitForNextTickAsync(stoppingToken));
    }
}

[JsonSerializable(typeof(Ask))]
[JsonSerializable(typeof(Quote))]
internal sealed partial class Contracts : JsonSerializerContext;
