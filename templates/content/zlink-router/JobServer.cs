using Net.Zlink;

namespace JobWorker1;

/// <summary>Answers the requests of DEALER sockets, one after the other.</summary>
internal sealed class JobServer([FromKeyedServices("jobs")] RouterSocket router, ILogger<JobServer> logger) : BackgroundService
{
    protected override async Task ExecuteAsync(CancellationToken stoppingToken)
    {
        await foreach (Message request in router.ReceiveAllAsync(stoppingToken))
        {
            using (request)
            {
                logger.LogInformation("A request of {Bytes} bytes", request.Span.Length);
                await router.To(request.RoutingId).SendAsync(request.Memory, stoppingToken);
            }
        }
    }
}
