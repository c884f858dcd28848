using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Hosting;

namespace Net.Zlink.Extensions.Hosting;

/// <summary>What all registrations have in common.</summary>
internal static class Registrations
{
    /// <summary>The context of that name; made known at the first look, with default settings.</summary>
    public static ContextRegistration Context(this IServiceCollection services, string name)
    {
        foreach (ServiceDescriptor descriptor in services)
        {
            if (!descriptor.IsKeyedService && descriptor.ImplementationInstance is ContextRegistration known
                && string.Equals(known.Name, name, StringComparison.Ordinal))
            {
                return known;
            }
        }

        var made = new ContextRegistration(name);
        services.AddSingleton(made);
        services.AddKeyedSingleton(name, (provider, _) => new HostedContext(provider, made));
        if (name.Length == 0)
        {
            services.AddSingleton(static provider => ContextOf(provider, "").Context);
        }
        else
        {
            services.AddKeyedSingleton(name, (provider, _) => ContextOf(provider, name).Context);
        }

        if (!services.Any(static one => !one.IsKeyedService && one.ImplementationType == typeof(ZlinkHost)))
        {
            services.AddSingleton<IHostedService, ZlinkHost>();
            services.AddOptions<HostOptions>();
        }

        return made;
    }

    /// <summary>Notes that a part uses a context, which its section of the configuration is checked against.</summary>
    /// <exception cref="ArgumentException">There is a part of that kind and name.</exception>
    public static void AddPart(this IServiceCollection services, string contextName, string kind, string name)
    {
        ContextRegistration context = services.Context(contextName);
        if (context.Parts.Contains((kind, name)))
        {
            throw new ArgumentException($"\"{name}\" is registered already under {kind}: each name is used once.", nameof(name));
        }

        context.Parts.Add((kind, name));
    }

    public static HostedContext ContextOf(IServiceProvider provider, string name) =>
        provider.GetRequiredKeyedService<HostedContext>(name);

    /// <summary>A check that keeps what it saw last time, which the health service makes anew for each look otherwise.</summary>
    public static void AddCheck<T>(this IServiceCollection services, string name, string key, IEnumerable<string> tags)
        where T : class, IHealthCheck =>
        services.AddHealthChecks().Add(new HealthCheckRegistration(
            name, provider => provider.GetRequiredKeyedService<T>(key), failureStatus: null, tags));
}
