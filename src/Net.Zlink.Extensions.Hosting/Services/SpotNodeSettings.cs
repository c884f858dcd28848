using System.Threading.Channels;
using Microsoft.Extensions.Configuration;
using Net.Zlink.Services;

namespace Net.Zlink.Extensions.Hosting;

internal sealed class SpotNodeSettings
{
    private const string Publisher = nameof(Publisher);
    private const string Subscriber = nameof(Subscriber);

    public int PublishQueueCapacity { get; set; }

    public BoundedChannelFullMode PublishQueueFullMode { get; set; }

    public bool NoDrop { get; set; }

    public string? AdvertiseHost { get; set; }

    public TimeSpan HeartbeatInterval { get; set; }

    public TimeSpan AckTimeout { get; set; }

    public static SpotNodeOptions Apply(IConfigurationSection? section, SpotNodeOptions options)
    {
        if (section is null)
        {
            return options;
        }

        ConfigurationErrors.CheckKeys(section, Keys.Bind, Keys.Connect, Keys.Registries, Keys.FollowRegistries, Publisher, Subscriber,
            nameof(PublishQueueCapacity), nameof(PublishQueueFullMode), nameof(NoDrop), nameof(AdvertiseHost), nameof(HeartbeatInterval),
            nameof(AckTimeout));
        var settings = new SpotNodeSettings
        {
            PublishQueueCapacity = options.PublishQueueCapacity,
            PublishQueueFullMode = options.PublishQueueFullMode,
            NoDrop = options.NoDrop,
            AdvertiseHost = options.AdvertiseHost,
            HeartbeatInterval = options.HeartbeatInterval,
            AckTimeout = options.AckTimeout,
        };
        ConfigurationErrors.Named(section, () => section.Bind(settings));
        return options with
        {
            PublishQueueCapacity = settings.PublishQueueCapacity,
            PublishQueueFullMode = settings.PublishQueueFullMode,
            NoDrop = settings.NoDrop,
            AdvertiseHost = settings.AdvertiseHost,
            HeartbeatInterval = settings.HeartbeatInterval,
            AckTimeout = settings.AckTimeout,
            ConfigurePublisher = SocketKinds.Pub.After(options.ConfigurePublisher, section.GetSection(Publisher)),
            ConfigureSubscriber = SocketKinds.Sub.After(options.ConfigureSubscriber, section.GetSection(Subscriber)),
        };
    }
}
