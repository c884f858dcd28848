using Net.Zlink.Services;

namespace Net.Zlink.Extensions.ServiceDiscovery;

/// <summary>How a <see cref="ServiceDiscoveryDirectory"/> asks. Copied when the directory is made.</summary>
public sealed class ServiceDiscoveryDirectoryOptions
{
    /// <summary>The scheme of the queries, and of endpoints that have none: <c>tcp</c> (default), <c>tls</c>, <c>ws</c> or
    /// <c>wss</c>.</summary>
    public string Transport { get; set; } = "tcp";

    /// <summary>How long at most until a service is resolved again, where its provider reports no change, or resolving has failed. Greater
    /// than zero. Default 5 s.</summary>
    public TimeSpan RefreshInterval { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>Checks the values.</summary>
    /// <exception cref="ArgumentException">One is out of its range; the message names the property and says what it takes.</exception>
    public void Validate()
    {
        OptionTexts.NotEmpty(Transport, "name the scheme of endpoints without one, such as tcp");
        OptionRange.TimeAboveZero(RefreshInterval);
    }

    internal ServiceDiscoveryDirectoryOptions ValidCopy()
    {
        Validate();
        return (ServiceDiscoveryDirectoryOptions)MemberwiseClone();
    }
}
