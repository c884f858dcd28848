using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace Net.Zlink.Extensions.Hosting;

internal sealed class ZlinkHost(
    IServiceProvider provider, IEnumerable<ContextRegistration> registrations, IEnumerable<HostedPart> parts, IOptions<HostOptions> options,
    ILogger<ZlinkHost> logger)
    : IHostedLifecycleService
{
    private readonly HostedPart[] _parts = [.. parts];
    private readonly ContextRegistration[] _registrations = [.. registrations];
    private DrainClock? _clock;
    private bool _isOpen;

    public Task StartingAsync(CancellationToken cancellationToken)
    {
        Open(cancellationToken);
        return Task.CompletedTask;
    }

    /// <summary>Reads all settings, binds and connects. A second call does nothing.</summary>
    /// <exception cref="ZlinkSettingException">A setting or an endpoint is wrong.</exception>
    public void Open(CancellationToken cancellationToken)
    {
        if (_isOpen)
        {
            return;
        }

        _isOpen = true;
        foreach (ContextRegistration registration in _registrations)
        {
            Setting all = provider.GetRequiredKeyedService<Setting>(registration.Name);
            foreach ((string key, string kind, string registered) in registration.FindUnused(all))
            {
                HostingLog.Unused(logger, key, kind, registered);
            }

            all[Keys.Health].Read([registration.Health ?? new ContextHealthOptions()]);
            if (Registrations.ContextOf(provider, registration.Name).OpenDiagnostics(all[Keys.Diagnostics]) is { } diagnostics)
            {
                HostingLog.Bound(logger, "The endpoint of diagnostics", diagnostics.Endpoint);
            }
        }

        foreach (HostedPart part in _parts)
        {
            cancellationToken.ThrowIfCancellationRequested();
            part.Open();
        }

        foreach (HostedPart part in _parts)
        {
            part.Connect();
        }
    }

    public Task StartAsync(CancellationToken cancellationToken)
    {
        foreach (HostedPart part in _parts)
        {
            part.Start();
        }

        return Task.CompletedTask;
    }

    public Task StartedAsync(CancellationToken cancellationToken) =>
        Task.WhenAll(_parts.Select(part => part.AnnounceAsync(cancellationToken)));

    public Task StoppingAsync(CancellationToken cancellationToken)
    {
        TimeProvider clock = provider.GetService<TimeProvider>() ?? TimeProvider.System;
        _clock = new DrainClock(clock, options.Value.ShutdownTimeout);
        return Task.WhenAll(_parts.Select(part => DrainAsync(part, _clock, cancellationToken)));
    }

    public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public async Task StoppedAsync(CancellationToken cancellationToken)
    {
        foreach (HostedPart part in _parts.Reverse())
        {
            await part.EndAsync().ConfigureAwait(false);
        }

        TimeSpan left = _clock?.Left ?? options.Value.ShutdownTimeout;
        await Task.WhenAll(_registrations.Select(registration => EndAsync(registration, left))).ConfigureAwait(false);
    }

    private async Task DrainAsync(HostedPart part, DrainClock clock, CancellationToken cancellation)
    {
        try
        {
            await part.DrainAsync(clock, cancellation).ConfigureAwait(false);
        }
        catch (OperationCanceledException) when (cancellation.IsCancellationRequested)
        {
            HostingLog.DrainCut(logger, part.Description);
        }
        catch (Exception e) when (e is ObjectDisposedException or ZlinkException)
        {
            // The application has ended it already.
        }
    }

    private async Task EndAsync(ContextRegistration registration, TimeSpan left)
    {
        ZlinkContext context = Registrations.ContextOf(provider, registration.Name).Context;
        ShutdownReport report = await context.ShutdownAsync(left).ConfigureAwait(false);
        string name = registration.Name.Length == 0 ? "of the application" : $"\"{registration.Name}\"";
        if (report.Drained && report.UndeliveredMessages == 0)
        {
            HostingLog.ContextEnded(logger, name, report.Elapsed.TotalMilliseconds);
        }
        else
        {
            HostingLog.ContextCut(logger, name, report.ToString());
        }
    }
}
