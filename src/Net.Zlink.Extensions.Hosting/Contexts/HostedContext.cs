using System.Diagnostics.Metrics;
using Microsoft.Extensions.Configuration;
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
        IConfigurationSection? section = registration.Configuration?.GetSection(Keys.Context);
        ConfigurationErrors.Read(section, options, static (from, to) => from.Bind(to, SocketKinds.Strictly));
        Options = registration.Configure?.Invoke(provider, options) ?? options;
        Context = ConfigurationErrors.Named(section, () => new ZlinkContext(Options));
    }

    public ContextRegistration Registration { get; }

    public ZlinkContextOptions Options { get; }

    public ZlinkContext Context { get; }

    public void Dispose() => Context.Dispose();

    public ValueTask DisposeAsync() => Context.DisposeAsync();
}
