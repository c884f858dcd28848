using System.Globalization;
using System.Xml.Linq;
using Net.Zlink.Scenarios.Results;

namespace Net.Zlink.Scenarios.Report;

/// <summary>All that a figure says nothing without.</summary>
internal static class SettingsSection
{
    public static IEnumerable<XElement> Write(Summary summary)
    {
        var list = Html.Element("dl");
        Add("command", summary.Command);
        Add("machine", summary.Machine.ToString());
        Add("kernel's limits", string.Create(CultureInfo.InvariantCulture,
            $"somaxconn {summary.Machine.SoMaxConn}, ports {summary.Machine.EphemeralPorts}"));
        Add("Net.Zlink", $"{summary.Versions.NetZlink}, {summary.Versions.Build}");
        Add("runtime", $"{summary.Versions.Runtime}; ASP.NET Core {summary.Versions.AspNetCore}; collector {summary.Versions.Collector}");
        Add("native library", summary.Versions.Native ?? "none");
        foreach ((string name, string value) in summary.Environment)
        {
            Add(name, value);
        }

        if (summary.Settings is { } settings)
        {
            Add("load", string.Create(CultureInfo.InvariantCulture,
                $"ccu {settings.Connections}, size {settings.Size}, inflight {settings.InFlight}, send-batch {settings.SendBatch}, "
                + $"latency-sample-rate {settings.LatencySampleRate}"));
            Add("times", string.Create(CultureInfo.InvariantCulture,
                $"warmup {settings.WarmupSeconds} s, measure {settings.MeasureSeconds} s, drain-timeout {settings.DrainTimeoutSeconds} "
                + $"s, connect-timeout {settings.ConnectTimeoutSeconds} s"));
            Add("server", string.Create(CultureInfo.InvariantCulture,
                $"backlog {settings.Backlog}, hwm {settings.HighWaterMark}, shards {settings.Shards}, connect-concurrency "
                + $"{settings.ConnectConcurrency}, inline completions {(settings.InlineCompletions ? "on" : "off")}"));
        }

        if (summary.Plan is { } plan)
        {
            Add("plan", string.Create(CultureInfo.InvariantCulture,
                $"profile {plan.Profile}, {plan.Rounds} rounds of {string.Join(", ", plan.Stacks)}; {plan.Pinning}; descriptor limit "
                + $"{plan.DescriptorLimit}"));
        }

        foreach (SkippedStack skipped in summary.Skipped)
        {
            Add($"not run: {skipped.Stack}", skipped.Why);
        }

        yield return Html.Element("details", Html.Element("summary", Html.Text("Settings, machine and versions")), list);

        void Add(string name, string value) => list.Add(Html.Element("dt", Html.Text(name)), Html.Element("dd", Html.Text(value)));
    }
}
