using System.Threading.Channels;
using Microsoft.Extensions.Configuration;
using Net.Zlink.Services;

namespace Net.Zlink.Extensions.Hosting;

internal sealed class SpotNodeSettings
{
    private const string DirectoryEndpoints = nameof(DirectoryEndpoints);
    private const string Publisher = nameof(Publisher);
    private const string Subscriber = nameof(Subscriber);

    public int PublishQueueCapacity { get; set; }

    public long PublishQueueByteLimit { get; set; }

    public BoundedChannelFullMode PublishQueueFullMode { get; set; }

    public bool NoDrop { get; set; }

    public string? AdvertiseHost { get; set; }

    public TimeSpan HeartbeatInterval { get; set; }

    public TimeSpan AckTimeout { get; set; }

    public TimeSpan PeerHeartbeatInterval { get; set; }

    public TimeSpan? PeerHeartbeatTimeout { get; set; }

    public TimeSpan? PeerHeartbeatTtl { get; set; }

    public TimeSpan RemovedEndpointTimeout { get; set; }

    public TimeSpan ForgottenEndpointTimeout { get; set; }

    public int MaxConcurrentDials { get; set; }

    public static SpotNodeOptions Apply(IConfigurationSection? section, SpotNodeOptions options)
    {
        if (section is null)
        {
            return options;
        }

        ConfigurationErrors.CheckKeys(section, Keys.Bind, Keys.Connect, Keys.Registries, Keys.FollowRegistries, Publisher, Subscriber,
            nameof(PublishQueueCapacity), nameof(PublishQueueFullMode), nameof(NoDrop), nameof(AdvertiseHost), nameof(HeartbeatInterval),
            nameof(AckTimeout), nameof(PeerHeartbeatInterval), nameof(PeerHeartbeatTimeout), nameof(PeerHeartbeatTtl),
            nameof(RemovedEndpointTimeout), nameof(ForgottenEndpointTimeout), nameof(MaxConcurrentDials),
            nameof(PublishQueueByteLimit), DirectoryEndpoints);
        var settings = new SpotNodeSettings
        {
            PublishQueueCapacity = options.PublishQueueCapacity,
            PublishQueueByteLimit = options.PublishQueueByteLimit,
            PublishQueueFullMode = options.PublishQueueFullMode,
            NoDrop = options.NoDrop,
            AdvertiseHost = options.AdvertiseHost,
            HeartbeatInterval = options.HeartbeatInterval,
            AckTimeout = options.AckTimeout,
            PeerHeartbeatInterval = options.PeerHeartbeatInterval,
            PeerHeartbeatTimeout = options.PeerHeartbeatTimeout,
            PeerHeartbeatTtl = options.PeerHeartbeatTtl,
            RemovedEndpointTimeout = options.RemovedEndpointTimeout,
            ForgottenEndpointTimeout = options.ForgottenEndpointTimeout,
            MaxConcurrentDials = options.MaxConcurrentDials,
        };
        ConfigurationErrors.Named(section, () => section.Bind(settings));
        options = ConfigurationErrors.Named(section.GetSection(nameof(AdvertiseHost)),
            () => options with { AdvertiseHost = settings.AdvertiseHost });
        return options with
        {
            PublishQueueCapacity = settings.PublishQueueCapacity,
            PublishQueueByteLimit = settings.PublishQueueByteLimit,
            PublishQueueFullMode = settings.PublishQueueFullMode,
            NoDrop = settings.NoDrop,
            HeartbeatInterval = settings.HeartbeatInterval,
            AckTimeout = settings.AckTimeout,
            PeerHeartbeatInterval = settings.PeerHeartbeatInterval,
            PeerHeartbeatTimeout = settings.PeerHeartbeatTimeout,
            PeerHeartbeatTtl = settings.PeerHeartbeatTtl,
            RemovedEndpointTimeout = settings.RemovedEndpointTimeout,
            ForgottenEndpointTimeout = settings.ForgottenEndpointTimeout,
            MaxConcurrentDials = settings.MaxConcurrentDials,
            DirectoryEndpoints = DirectoryEndpointSettings.Apply(section.GetSection(DirectoryEndpoints), options.DirectoryEndpoints),
            ConfigurePublisher = SocketKinds.Pub.After(options.ConfigurePublisher, section.GetSection(Publisher)),
            ConfigureSubscriber = SocketKinds.Sub.After(options.ConfigureSubscriber, section.GetSection(Subscriber)),
        };
    }
}
