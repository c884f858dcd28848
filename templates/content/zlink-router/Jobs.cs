using Net.Zlink;
using Net.Zlink.Extensions.Hosting;

namespace ZlinkApp1;

internal static class Jobs
{
    public static void AddJobs(this IHostApplicationBuilder builder)
    {
        builder.Services.AddZlink(builder.Configuration.GetSection("Zlink"));
        builder.Services.AddZlinkRouter("jobs").AddHealthCheck(); // appsettings.json says where it binds.
        builder.Services.AddHostedService<JobServer>();
    }
}

/// <summary>Answers the messages of DEALER sockets, one after the other.</summary>
internal sealed class JobServer([FromKeyedServices("jobs")] RouterSocket router, ILogger<JobServer> logger) : BackgroundService
{
    protected override async Task ExecuteAsync(CancellationToken stoppingToken)
    {
        await foreach (Message job in router.ReceiveAllAsync(stoppingToken))
        {
            using (job)
            {
                logger.LogInformation("A job of {Bytes} bytes", job.Span.Length);

                // It was taken, so it is answered. A peer that has left or does not read gets no answer, and holds back no other one.
                await router.To(job.RoutingId).SendAsync(job.Memory, CancellationToken.None);
            }
        }
    }
}
