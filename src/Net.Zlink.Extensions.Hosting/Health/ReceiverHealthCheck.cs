using Microsoft.Extensions.Diagnostics.HealthChecks;
using Net.Zlink.Services;

namespace Net.Zlink.Extensions.Hosting;

/// <summary>Keeps the counters of the last look.</summary>
internal sealed class ReceiverHealthCheck(HostedReceiver hosted, ReceiverHealthOptions options) : IHealthCheck
{
    private long _lastFaults;
    private long _lastExpired;

    public Task<HealthCheckResult> CheckHealthAsync(HealthCheckContext context, CancellationToken cancellationToken = default)
    {
        ReceiverStatistics statistics = hosted.Receiver.GetStatistics();
        var findings = new HealthFindings();
        long faults = statistics.HandlerFaults - Interlocked.Exchange(ref _lastFaults, statistics.HandlerFaults);
        long expired = statistics.Expired - Interlocked.Exchange(ref _lastExpired, statistics.Expired);
        findings.AtMost("handler faults", faults, options.HandlerFaults);
        findings.AtMost("expired requests", expired, options.ExpiredRequests);
        findings.AtMost("running requests", statistics.Running, options.RunningRequests);
        if (hosted.Receiver.IsDraining)
        {
            findings.Unhealthy("the receiver is being drained and refuses requests");
        }
        else if (hosted.Registration is { } registration)
        {
            IReadOnlyList<RegistryStatus> registries = registration.GetRegistries();
            RegistryStatus[] missing = [.. registries.Where(static one => one.State != RegistrationState.Registered)];
            findings.AtMost("missing registrations", missing.Length, options.MissingRegistrations);
            if (missing.Length == registries.Count && missing.Length > 0)
            {
                findings.Unhealthy($"no registry lists the receiver: at {new RedactedEndpoint(missing[0].RegistryEndpoint)} it is "
                    + $"{missing[0].State} {missing[0].Detail}");
            }
        }

        return Task.FromResult(findings.Result($"{statistics.Replies} requests answered"));
    }
}
