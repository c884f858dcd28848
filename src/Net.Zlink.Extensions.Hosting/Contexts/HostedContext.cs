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
        Options = PartOptions.Of<ZlinkContextOptions>(provider, registration.Name);
        Context = new ZlinkContext(Options);
    }

    public static void SetDefaults(ZlinkContextOptions options, IServiceProvider provider, string name)
    {
        options.LoggerFactory = provider.GetService<ILoggerFactory>();
        options.MeterFactory = provider.GetService<IMeterFactory>();
        options.TimeProvider = provider.GetService<TimeProvider>() ?? TimeProvider.System;
        options.Name = name.Length == 0 ? null : name;
    }

    public ContextRegistration Registration { get; }

    public ZlinkContextOptions Options { get; }

    public ZlinkContext Context { get; }

    public void Dispose() => Context.Dispose();

    public ValueTask DisposeAsync() => Context.DisposeAsync();
}
