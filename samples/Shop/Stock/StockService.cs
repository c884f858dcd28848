using System.Diagnostics;
using System.Text;
using System.Text.Json;
using Net.Zlink;
using Net.Zlink.Services;

namespace Samples.Shop;

/// <summary>Which of the stocks a host is.</summary>
internal sealed record StockName(string Text);

/// <summary>Serves orders. It drains when its host stops, so that no order is lost by that.</summary>
internal sealed class StockService(ZlinkContext context, RegistryEndpoints registry, StockName name, ILogger<StockService> logger)
    : IHostedService
{
    public const string Service = "stock";

    private readonly Receiver _receiver = new(context);
    private Task _serving = Task.CompletedTask;

    public async Task StartAsync(CancellationToken cancellationToken)
    {
        _receiver.Bind("tcp://127.0.0.1:*");
        _receiver.ConnectRegistry(registry.Router);
        _serving = _receiver.ServeAsync(AnswerAsync, maxConcurrency: 64, CancellationToken.None);
        Registration registration = await _receiver.RegisterAsync(Service, cancellationToken: cancellationToken);
        ShopLog.StockServes(logger, name.Text, registration.Endpoint);
    }

    public async Task StopAsync(CancellationToken cancellationToken)
    {
        DrainReport report = await _receiver.DrainAsync(
            new DrainOptions { IdleTime = TimeSpan.FromMilliseconds(300), Deadline = TimeSpan.FromSeconds(5) }, cancellationToken);
        ShopLog.StockIsDrained(logger, name.Text, report.Accepted, report.Refused, report.Unfinished);
        await _receiver.DisposeAsync();
        await _serving;
    }

    // A request has two parts: the trace that it belongs to, and the order.
    private async ValueTask AnswerAsync(ServiceRequest request, CancellationToken cancellationToken)
    {
        using Activity? activity = Tracing.Source.StartActivity(
            "take from stock", ActivityKind.Server, Encoding.UTF8.GetString(request[0].Span));
        activity?.SetTag("stock", name.Text);
        Order order = JsonSerializer.Deserialize(request[1].Span, ShopJson.Default.Order)!;

        // As long as a look into a database takes, so that there is something to see.
        await Task.Delay(Random.Shared.Next(1, 8), cancellationToken);
        await request.ReplyAsync(JsonSerializer.SerializeToUtf8Bytes(
            new Receipt(order.Item, order.Count, name.Text), ShopJson.Default.Receipt), cancellationToken);
    }
}
