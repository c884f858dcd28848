using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Testing;
using Net.Zlink.Tests.Support;

namespace Net.Zlink.Extensions.Tests;

/// <summary>One test's Generic Host, with the settings given and a log that can be read.</summary>
internal sealed class HostFixture : IAsyncDisposable
{
    private readonly HostApplicationBuilder _builder = Microsoft.Extensions.Hosting.Host.CreateApplicationBuilder(
        new HostApplicationBuilderSettings { DisableDefaults = true });

    private IHost? _host;

    public HostFixture(params (string Key, string Value)[] settings)
    {
        _builder.Configuration.AddInMemoryCollection(
            settings.Select(static one => KeyValuePair.Create<string, string?>($"Zlink:{one.Key}", one.Value)));
        _builder.Logging.AddFakeLogging();
    }

    public IServiceCollection Services => _builder.Services;

    public IConfigurationManager Configuration => _builder.Configuration;

    public IConfiguration Section => _builder.Configuration.GetSection("Zlink");

    public IHost Host => _host ??= _builder.Build();

    public IReadOnlyList<FakeLogRecord> Log => Host.Services.GetFakeLogCollector().GetSnapshot();

    public T Get<T>(string key)
        where T : notnull => Host.Services.GetRequiredKeyedService<T>(key);

    public T Get<T>()
        where T : notnull => Host.Services.GetRequiredService<T>();

    public Task StartAsync() => Host.StartAsync(Guard.Token).Guarded();

    public Task StopAsync() => Host.StopAsync(Guard.Token).Guarded();

    public async Task<HealthReportEntry> CheckAsync(string name)
    {
        HealthReport report = await Get<HealthCheckService>().CheckHealthAsync(
            one => string.Equals(one.Name, name, StringComparison.Ordinal), Guard.Token).Guarded();
        return report.Entries[name];
    }

    public async ValueTask DisposeAsync()
    {
        if (_host is IAsyncDisposable host)
        {
            await host.DisposeAsync().AsTask().Guarded();
        }
    }
}
