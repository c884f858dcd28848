using Microsoft.Extensions.Configuration;
using Net.Zlink.Services;

namespace Net.Zlink.Extensions.Hosting;

internal sealed class GatewaySettings
{
    /// <summary>For the check of a section that has other keys, too.</summary>
    public static readonly string[] Names =
    [
        nameof(HighWaterMark), nameof(SendTimeout), nameof(Linger), nameof(RequestTimeout), nameof(RemovedEndpointTimeout),
        nameof(TryNextWhenFull), nameof(UnreadMessageLimit), nameof(UnreadByteLimit), Keys.Options,
    ];

    public int HighWaterMark { get; set; }

    public TimeSpan SendTimeout { get; set; }

    public TimeSpan Linger { get; set; }

    public TimeSpan RequestTimeout { get; set; }

    public TimeSpan RemovedEndpointTimeout { get; set; }

    public bool TryNextWhenFull { get; set; }

    public int UnreadMessageLimit { get; set; }

    public long UnreadByteLimit { get; set; }

    public static GatewayOptions Apply(IConfigurationSection? section, GatewayOptions options)
    {
        if (section is null)
        {
            return options;
        }

        var settings = new GatewaySettings
        {
            HighWaterMark = options.HighWaterMark,
            SendTimeout = options.SendTimeout,
            Linger = options.Linger,
            RequestTimeout = options.RequestTimeout,
            RemovedEndpointTimeout = options.RemovedEndpointTimeout,
            TryNextWhenFull = options.TryNextWhenFull,
            UnreadMessageLimit = options.UnreadMessageLimit,
            UnreadByteLimit = options.UnreadByteLimit,
        };
        ConfigurationErrors.Named(section, () => section.Bind(settings));
        return options with
        {
            HighWaterMark = settings.HighWaterMark,
            SendTimeout = settings.SendTimeout,
            Linger = settings.Linger,
            RequestTimeout = settings.RequestTimeout,
            RemovedEndpointTimeout = settings.RemovedEndpointTimeout,
            TryNextWhenFull = settings.TryNextWhenFull,
            UnreadMessageLimit = settings.UnreadMessageLimit,
            UnreadByteLimit = settings.UnreadByteLimit,
            ConfigureSocket = SocketKinds.Router.After(options.ConfigureSocket, section.GetSection(Keys.Options)),
        };
    }
}
