using System.Diagnostics.Metrics;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Net.Zlink.Extensions.Hosting;

/// <summary>The container disposes it and its context.</summary>
internal sealed class HostedContext : IAsyncDisposable, IDisposable
{
    public HostedContext(IServiceProvider provider, ContextRegistration registration)
    {
        Registration = registration;
        var options = new ZlinkContextOptions
        {
            LoggerFactory = provider.GetService<ILoggerFactory>(),
            MeterFactory = provider.GetService<IMeterFactory>(),
            TimeProvider = provider.GetService<TimeProvider>() ?? TimeProvider.System,
            Name = registration.Name.Length == 0 ? null : registration.Name,
        };
        if (registration.Configuration?.GetSection(Keys.Context) is { } section)
        {
            ConfigurationErrors.Named(section, () => options = ContextSettings.Of(section).ApplyTo(options));
        }

        Options = registration.Configure?.Invoke(provider, options) ?? options;
        Context = new ZlinkContext(Options);
    }

    public ContextRegistration Registration { get; }

    public ZlinkContextOptions Options { get; }

    public ZlinkContext Context { get; }

    public void Dispose() => Context.Dispose();

    public ValueTask DisposeAsync() => Context.DisposeAsync();
}
