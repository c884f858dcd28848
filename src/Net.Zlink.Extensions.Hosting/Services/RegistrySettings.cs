using Microsoft.Extensions.Configuration;
using Net.Zlink.Services;

namespace Net.Zlink.Extensions.Hosting;

internal sealed class RegistrySettings
{
    private const string Publisher = nameof(Publisher);
    private const string Router = nameof(Router);

    public string PublisherEndpoint { get; set; } = "";

    public string RouterEndpoint { get; set; } = "";

    public uint? Id { get; set; }

    public bool SendOwnEntries { get; set; }

    public TimeSpan HeartbeatTimeout { get; set; }

    public TimeSpan BroadcastInterval { get; set; }

    public TimeSpan MinBroadcastInterval { get; set; }

    public TimeSpan? PeerTimeout { get; set; }

    public int MaxEntries { get; set; }

    public long MaxBroadcastBytesPerSecond { get; set; }

    public TimeSpan AdmissionTimeout { get; set; }

    public static RegistryOptions Apply(IConfigurationSection? section, RegistryOptions options)
    {
        if (section is null)
        {
            return options;
        }

        ConfigurationErrors.CheckKeys(section, nameof(PublisherEndpoint), nameof(RouterEndpoint), nameof(Id),
            nameof(RegistryOptions.Peers), nameof(SendOwnEntries), nameof(HeartbeatTimeout), nameof(BroadcastInterval),
            nameof(MinBroadcastInterval), nameof(PeerTimeout), nameof(MaxEntries),
            nameof(MaxBroadcastBytesPerSecond), nameof(AdmissionTimeout), Publisher, Router);
        var settings = new RegistrySettings
        {
            PublisherEndpoint = options.PublisherEndpoint,
            RouterEndpoint = options.RouterEndpoint,
            Id = options.Id,
            SendOwnEntries = options.SendOwnEntries,
            HeartbeatTimeout = options.HeartbeatTimeout,
            BroadcastInterval = options.BroadcastInterval,
            MinBroadcastInterval = options.MinBroadcastInterval,
            PeerTimeout = options.PeerTimeout,
            MaxEntries = options.MaxEntries,
            MaxBroadcastBytesPerSecond = options.MaxBroadcastBytesPerSecond,
            AdmissionTimeout = options.AdmissionTimeout,
        };
        ConfigurationErrors.Named(section, () => section.Bind(settings));
        return options with
        {
            PublisherEndpoint = settings.PublisherEndpoint,
            RouterEndpoint = settings.RouterEndpoint,
            Id = settings.Id,
            Peers = ConfigurationErrors.TextsOr(section, nameof(RegistryOptions.Peers), options.Peers),
            SendOwnEntries = settings.SendOwnEntries,
            HeartbeatTimeout = settings.HeartbeatTimeout,
            BroadcastInterval = settings.BroadcastInterval,
            MinBroadcastInterval = settings.MinBroadcastInterval,
            PeerTimeout = settings.PeerTimeout,
            MaxEntries = settings.MaxEntries,
            MaxBroadcastBytesPerSecond = settings.MaxBroadcastBytesPerSecond,
            AdmissionTimeout = settings.AdmissionTimeout,
            ConfigurePublisher = SocketKinds.XPub.After(options.ConfigurePublisher, section.GetSection(Publisher)),
            ConfigureRouter = SocketKinds.Router.After(options.ConfigureRouter, section.GetSection(Router)),
        };
    }
}
