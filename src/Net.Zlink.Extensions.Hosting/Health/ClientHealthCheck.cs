using Microsoft.Extensions.Diagnostics.HealthChecks;
using Net.Zlink.Services;

namespace Net.Zlink.Extensions.Hosting;

internal sealed class ClientHealthCheck(ServiceClient service, ClientHealthOptions options) : IHealthCheck
{
    public Task<HealthCheckResult> CheckHealthAsync(HealthCheckContext context, CancellationToken cancellationToken = default)
    {
        var findings = new HealthFindings();
        IReadOnlyList<ReceiverLinkInfo> links = service.GetReceivers();
        ReceiverLinkInfo? away = links.FirstOrDefault(static link => !link.IsReady);
        findings.AtLeast("ready receivers", service.ReadyCount, options.ReadyReceivers,
            away is null ? null : $"{new RedactedEndpoint(away.Endpoint)}: {away.WhyNotReady}");
        findings.AtMost("queued messages", links.Sum(static link => link.QueuedMessages), options.QueuedMessages);
        return Task.FromResult(findings.Result($"{service.ReadyCount} receivers"));
    }
}
