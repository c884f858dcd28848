using Net.Zlink;
using Net.Zlink.Services;

namespace EchoReceiver1;

/// <summary>Registers itself, serves requests of gateways, and drains when the host stops: no request fails by that.</summary>
internal sealed class EchoService(ZlinkContext context, IConfiguration configuration, ILogger<EchoService> logger) : BackgroundService
{
    protected override async Task ExecuteAsync(CancellationToken stoppingToken)
    {
        IConfigurationSection settings = configuration.GetRequiredSection("Service");
        await using var receiver = new Receiver(context);
        string endpoint = receiver.Bind(settings["Bind"]!);
        receiver.ConnectRegistry(settings["Registry"]!);
        receiver.Register(settings["Name"]!);
        logger.LogInformation("Serving at {Endpoint}", endpoint);

        Task serving = receiver.ServeAsync(AnswerAsync, maxConcurrency: 64, CancellationToken.None);
        await Task.Delay(Timeout.Infinite, stoppingToken).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        await receiver.DrainAsync();
        await receiver.DisposeAsync();
        await serving;
    }

    private static ValueTask AnswerAsync(ServiceRequest request, CancellationToken cancellationToken) =>
        request.ReplyAsync(request.Memory, cancellationToken);
}
