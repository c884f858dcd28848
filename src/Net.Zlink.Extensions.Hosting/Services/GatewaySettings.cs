using Microsoft.Extensions.Configuration;
using Net.Zlink.Services;

namespace Net.Zlink.Extensions.Hosting;

internal sealed class GatewaySettings
{
    /// <summary>For the check of a section that has other keys, too.</summary>
    public static readonly string[] Names =
    [
        nameof(HighWaterMark), nameof(SendTimeout), nameof(Linger), nameof(RequestTimeout), nameof(RemovedEndpointTimeout),
        nameof(TryNextWhenFull), nameof(UnreadMessageLimit), nameof(UnreadByteLimit), nameof(HeartbeatInterval),
        nameof(HeartbeatTimeout), nameof(HeartbeatTtl), nameof(EjectAfterTimeouts), nameof(WaitForReady),
        nameof(MaxConcurrentDials), nameof(MaxConnectedEndpoints), DirectoryEndpoints, Keys.Options,
    ];

    private const string DirectoryEndpoints = nameof(DirectoryEndpoints);

    public int HighWaterMark { get; set; }

    public TimeSpan SendTimeout { get; set; }

    public TimeSpan Linger { get; set; }

    public TimeSpan RequestTimeout { get; set; }

    public TimeSpan RemovedEndpointTimeout { get; set; }

    public bool TryNextWhenFull { get; set; }

    public int UnreadMessageLimit { get; set; }

    public long UnreadByteLimit { get; set; }

    public int MaxConcurrentDials { get; set; }

    public int MaxConnectedEndpoints { get; set; }

    public TimeSpan HeartbeatInterval { get; set; }

    public TimeSpan? HeartbeatTimeout { get; set; }

    public TimeSpan? HeartbeatTtl { get; set; }

    public int EjectAfterTimeouts { get; set; }

    public bool WaitForReady { get; set; }

    /// <summary>All parts of a system start at once, so a first request may come before the first receiver.</summary>
    public static GatewayOptions DefaultsOf(IServiceProvider provider) => new()
    {
        WaitForReady = true,
        HeartbeatTimeout = PeerTimeouts.HeartbeatTimeoutOf(provider),
    };

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
            HeartbeatInterval = options.HeartbeatInterval,
            HeartbeatTimeout = options.HeartbeatTimeout,
            HeartbeatTtl = options.HeartbeatTtl,
            EjectAfterTimeouts = options.EjectAfterTimeouts,
            WaitForReady = options.WaitForReady,
            MaxConcurrentDials = options.MaxConcurrentDials,
            MaxConnectedEndpoints = options.MaxConnectedEndpoints,
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
            HeartbeatInterval = settings.HeartbeatInterval,
            HeartbeatTimeout = settings.HeartbeatTimeout,
            HeartbeatTtl = settings.HeartbeatTtl,
            EjectAfterTimeouts = settings.EjectAfterTimeouts,
            WaitForReady = settings.WaitForReady,
            MaxConcurrentDials = settings.MaxConcurrentDials,
            MaxConnectedEndpoints = settings.MaxConnectedEndpoints,
            DirectoryEndpoints = DirectoryEndpointSettings.Apply(section.GetSection(DirectoryEndpoints), options.DirectoryEndpoints),
            ConfigureSocket = SocketKinds.Router.After(options.ConfigureSocket, section.GetSection(Keys.Options)),
        };
    }
}
