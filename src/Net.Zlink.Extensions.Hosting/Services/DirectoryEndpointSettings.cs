using Microsoft.Extensions.Configuration;
using Net.Zlink.Services;

namespace Net.Zlink.Extensions.Hosting;

internal sealed class DirectoryEndpointSettings
{
    private const string Transports = nameof(Transports);

    public bool AllowLinkLocal { get; set; }

    /// <summary>What the section says, and for the rest what the code says; Admission is for code alone.</summary>
    public static DirectoryEndpointOptions Apply(IConfigurationSection section, DirectoryEndpointOptions inCode)
    {
        if (!section.Exists())
        {
            return inCode;
        }

        ConfigurationErrors.CheckKeys(section, Transports, nameof(AllowLinkLocal));
        var settings = new DirectoryEndpointSettings { AllowLinkLocal = inCode.AllowLinkLocal };
        ConfigurationErrors.Named(section, () => section.Bind(settings));
        var options = new DirectoryEndpointOptions { AllowLinkLocal = settings.AllowLinkLocal, Admission = inCode.Admission };
        foreach (string transport in ConfigurationErrors.TextsOr(section, Transports, [.. inCode.Transports]))
        {
            options.Transports.Add(transport);
        }

        ConfigurationErrors.Named(section, options.Validate);
        return options;
    }
}
