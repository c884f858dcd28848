using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Hosting;

namespace Net.Zlink.Extensions.Hosting;

internal static class Registrations
{
    /// <summary>Adds the context at the first look, with default settings.</summary>
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
        services.AddKeyedSingleton(name, (provider, _) => SettingSources.Read(made.Configuration, provider.GetService<IConfiguration>()));
        services.AddPartOptions<ZlinkContextOptions>(
            name, provider => provider.SettingOf(name, Keys.Context, ""), static (from, to) => from.Read([to]),
            static options => options.Validate(), (options, provider) => HostedContext.SetDefaults(options, provider, name));
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

    public static void AddPart(this IServiceCollection services, string contextName, string kind, string name)
    {
        ContextRegistration context = services.Context(contextName);
        IEnumerable<ContextRegistration> sharing = kind is Keys.Registry ? [context]
            : services.Where(static one => !one.IsKeyedService).Select(static one => one.ImplementationInstance)
                .OfType<ContextRegistration>();
        if (sharing.Any(one => one.Parts.Contains((kind, name))))
        {
            throw new ArgumentException($"\"{Shown(name)}\" is already registered as {kind}: choose another name.", nameof(name));
        }

        context.Parts.Add((kind, name));
    }

    /// <summary>A STREAM is often named by its endpoint, which may hold a secret.</summary>
    public static string Shown(string name) =>
        name.Contains("://", StringComparison.Ordinal) ? new RedactedEndpoint(name).ToString() : name;

    /// <summary>The section of a part. One without a name has that of its kind.</summary>
    public static Setting SettingOf(this IServiceProvider provider, string contextName, string kind, string name)
    {
        Setting ofKind = provider.GetRequiredKeyedService<Setting>(contextName)[kind];
        return name.Length == 0 ? ofKind : ofKind[name];
    }

    public static HostedContext ContextOf(IServiceProvider provider, string name) =>
        provider.GetRequiredKeyedService<HostedContext>(name);

    /// <summary>The check keeps what it saw last time; the health service would make a new one for each look.</summary>
    public static void AddCheck<T>(this IServiceCollection services, string name, string key, IEnumerable<string> tags)
        where T : class, IHealthCheck =>
        services.AddHealthChecks().Add(new HealthCheckRegistration(
            name, provider => provider.GetRequiredKeyedService<T>(key), failureStatus: null, tags));
}
