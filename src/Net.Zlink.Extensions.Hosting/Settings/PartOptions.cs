using System.Diagnostics.CodeAnalysis;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;

namespace Net.Zlink.Extensions.Hosting;

/// <summary>Named options of the parts of a host: its own defaults, what the application configures in code, and then the section, which
/// takes the place of both. They are checked before anything is bound.</summary>
internal static class PartOptions
{
    private const DynamicallyAccessedMemberTypes Constructor = DynamicallyAccessedMemberTypes.PublicParameterlessConstructor;

    public static void AddPartOptions<[DynamicallyAccessedMembers(Constructor)] TOptions>(
        this IServiceCollection services, string name, Func<IServiceProvider, Setting> section,
        Action<Setting, TOptions> read, Action<TOptions> validate, Action<TOptions, IServiceProvider>? defaults = null)
        where TOptions : class
    {
        services.AddOptions<TOptions>(name).ValidateOnStart();
        if (defaults is not null)
        {
            // In front, because the application may have configured the options by their name already.
            services.Insert(0, ServiceDescriptor.Singleton<IConfigureOptions<TOptions>>(
                provider => new ConfigureNamedOptions<TOptions>(name, options => defaults(options, provider))));
        }

        services.AddSingleton<IPostConfigureOptions<TOptions>>(
            provider => new PostConfigureOptions<TOptions>(name, options => read(section(provider), options)));
        services.AddSingleton<IValidateOptions<TOptions>>(
            provider => new PartValidation<TOptions>(name, () => section(provider), validate));
    }

    /// <summary>As they were configured; who gets them copies them.</summary>
    public static TOptions Of<[DynamicallyAccessedMembers(Constructor)] TOptions>(IServiceProvider provider, string name)
        where TOptions : class => provider.GetRequiredService<IOptionsMonitor<TOptions>>().Get(name);

    private sealed class PartValidation<TOptions>(string part, Func<Setting> section, Action<TOptions> validate)
        : IValidateOptions<TOptions>
        where TOptions : class
    {
        public ValidateOptionsResult Validate(string? name, TOptions options)
        {
            if (!string.Equals(name, part, StringComparison.Ordinal))
            {
                return ValidateOptionsResult.Skip;
            }

            try
            {
                validate(options);
                return ValidateOptionsResult.Success;
            }
            catch (ArgumentException e)
            {
                return ValidateOptionsResult.Fail(SettingFaults.SentenceOf(section(), e));
            }
        }
    }
}
