using System.Globalization;
using Microsoft.Extensions.Diagnostics.HealthChecks;

namespace Net.Zlink.Extensions.Hosting;

internal sealed class HealthFindings
{
    private readonly Dictionary<string, object> _data = new(StringComparer.Ordinal);
    private readonly List<string> _faults = [];
    private HealthStatus _status = HealthStatus.Healthy;

    public void AtMost(string name, double value, HealthThreshold threshold) =>
        Judge(name, value, value >= threshold.Unhealthy, value >= threshold.Degraded, ">=", threshold);

    public void AtLeast(string name, double value, HealthThreshold threshold, string? why = null) =>
        Judge(name, value, value < threshold.Unhealthy, value < threshold.Degraded, "<", threshold, why);

    public void Unhealthy(string fault)
    {
        _status = HealthStatus.Unhealthy;
        _faults.Add(fault);
    }

    public HealthCheckResult Result(string whenHealthy) =>
        new(_status, _faults.Count == 0 ? whenHealthy : string.Join("; ", _faults), exception: null, _data);

    private void Judge(string name, double value, bool isUnhealthy, bool isDegraded, string sign, HealthThreshold threshold,
        string? why = null)
    {
        _data[name] = value;
        if (!isUnhealthy && !isDegraded)
        {
            return;
        }

        _status = isUnhealthy ? HealthStatus.Unhealthy : _status == HealthStatus.Healthy ? HealthStatus.Degraded : _status;
        double? limit = isUnhealthy ? threshold.Unhealthy : threshold.Degraded;
        string fault = string.Create(CultureInfo.InvariantCulture, $"{name} {value:0.###} {sign} {limit:0.###}");
        _faults.Add(why is null ? fault : $"{fault}: {why}");
    }
}
