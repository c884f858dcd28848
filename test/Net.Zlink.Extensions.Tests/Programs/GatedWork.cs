using System.Diagnostics;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Hosting;
using Net.Zlink.Tests.Support;
using OpenTelemetry.Metrics;
using OpenTelemetry.Trace;
using Xunit;

namespace Net.Zlink.Extensions.Tests;

/// <summary>The work of program (e), whose second job waits until its host is stopping; and what such a host has to do.</summary>
internal sealed class GatedWork
{
    private readonly TaskCompletionSource _begun = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly TaskCompletionSource _stopping = new(TaskCreationOptions.RunContinuationsAsynchronously);

    private readonly List<Activity> _spans = [];
    private readonly List<Metric> _metrics = [];

    /// <summary>Sees the traces and metrics that the program collects.</summary>
    public void Watch(IServiceCollection services)
    {
        services.ConfigureOpenTelemetryTracerProvider(tracing => tracing.AddInMemoryExporter(_spans));
        services.ConfigureOpenTelemetryMeterProvider(metrics => metrics.AddInMemoryExporter(_metrics));
    }

    public async ValueTask<string> DoAsync(string job)
    {
        if (job is "long")
        {
            _begun.SetResult();
            await _stopping.Task;
        }

        return job;
    }

    /// <summary>A started host answers, is healthy, answers what is in progress when it stops, and has collected traces and
    /// metrics.</summary>
    public async Task CheckAsync(IHost host, Func<string, Task<string?>> ask)
    {
        Assert.Equal("short", await ask("short").Guarded());
        Assert.Equal(HealthStatus.Healthy,
            (await host.Services.GetRequiredService<HealthCheckService>().CheckHealthAsync(Guard.Token).Guarded()).Status);
        Task<string?> late = ask("long");
        await _begun.Task.Guarded();
        Task stop = host.StopAsync(Guard.Token);
        _stopping.SetResult();
        await stop.Guarded();
        Assert.Equal("long", await late.Guarded());
        await ((IAsyncDisposable)host).DisposeAsync(); // The last metrics are collected here.
        Assert.NotEmpty(_spans);
        Assert.NotEmpty(_metrics);
    }
}
