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

    /// <summary>The setting, true, false or an endpoint, takes the place of what code says. Null: they stay closed.</summary>
    public DiagnosticsEndpoint? OpenDiagnostics(Setting setting)
    {
        string? text = setting.OneText(mayBeEmpty: false);
        string? endpoint = text is null ? Registration.Diagnostics
            : !bool.TryParse(text, out bool isOpen) ? text
            : isOpen ? ""
            : null;
        try
        {
            return endpoint is null ? null : Context.OpenDiagnostics(endpoint.Length == 0 ? null : endpoint);
        }
        catch (Exception e) when (setting.IsSet && e is ZlinkException or ArgumentException)
        {
            throw SettingFaults.Wrong(setting, e);
        }
    }

    public void Dispose() => Context.Dispose();

    public ValueTask DisposeAsync() => Context.DisposeAsync();
}
