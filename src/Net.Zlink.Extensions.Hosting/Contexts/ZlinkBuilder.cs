using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;

namespace Net.Zlink.Extensions.Hosting;

/// <summary>One context of a host, and its options by its name. What the configuration says takes the place of them.</summary>
/// <remarks>Not thread-safe: used while the services are registered.</remarks>
public sealed class ZlinkBuilder : OptionsBuilder<ZlinkContextOptions>
{
    private readonly ContextRegistration _registration;

    internal ZlinkBuilder(IServiceCollection services, ContextRegistration registration)
        : base(services, registration.Name) => _registration = registration;

    /// <inheritdoc/>
    public override ZlinkBuilder Configure(Action<ZlinkContextOptions> configureOptions)
    {
        base.Configure(configureOptions);
        return this;
    }

    /// <summary>Opens the diagnostics of the context when the host starts: <see cref="DiagnosticsExtensions.OpenDiagnostics"/>.</summary>
    /// <param name="endpoint">ipc, or tcp on this machine. Null: where <c>zlink top</c> finds it. The configuration's key
    /// <c>Diagnostics</c>, true, false or an endpoint, counts in place of it.</param>
    /// <returns>This builder.</returns>
    public ZlinkBuilder OpenDiagnostics(string? endpoint = null)
    {
        _registration.Diagnostics = endpoint ?? "";
        return this;
    }

    /// <summary>Adds a health check of the context: delay of its shards, misses of its buffer pool, bytes in its queues.</summary>
    /// <param name="configure">Changes the thresholds; the configuration's section <c>Health</c> counts after it.</param>
    /// <param name="tags">Tags of the check, such as <c>ready</c>.</param>
    /// <returns>This builder.</returns>
    public ZlinkBuilder AddHealthCheck(Action<ContextHealthOptions>? configure = null, params IEnumerable<string> tags)
    {
        var options = new ContextHealthOptions();
        configure?.Invoke(options);
        _registration.Health = options;
        string key = Name;
        Services.AddKeyedSingleton(key, (provider, _) => new ContextHealthCheck(Registrations.ContextOf(provider, key)));
        Services.AddCheck<ContextHealthCheck>(key.Length == 0 ? "zlink-context" : $"zlink-context-{key}", key, tags);
        return this;
    }
}
