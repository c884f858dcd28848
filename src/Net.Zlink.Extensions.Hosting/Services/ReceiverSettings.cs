using Microsoft.Extensions.Configuration;
using Net.Zlink.Services;

namespace Net.Zlink.Extensions.Hosting;

internal sealed class ReceiverSettings
{
    public int MaxConcurrency
    {
        get;
        set => field = value >= 1 ? value
            : throw new ArgumentOutOfRangeException(nameof(value), value, $"{nameof(MaxConcurrency)} is 1 or more.");
    } = 64;

    public uint Weight
    {
        get;
        set => field = value >= 1 ? value : throw new ArgumentOutOfRangeException(nameof(value), value, $"{nameof(Weight)} is 1 or more.");
    } = 1;

    public string? Advertise { get; set; }

    public string? AdvertiseHost { get; set; }

    public TimeSpan? HeartbeatInterval { get; set; }

    public TimeSpan? AckTimeout { get; set; }

    public bool? RunHandlersOnPool { get; set; }

    public long? ReadAheadByteLimit { get; set; }

    public ReceiverOptions Apply(IConfigurationSection section, ReceiverOptions options)
    {
        ConfigurationErrors.CheckKeys(section, Keys.Bind, Keys.Registries, Keys.Options, Keys.Health, nameof(MaxConcurrency),
            nameof(Weight), nameof(Advertise), nameof(AdvertiseHost), nameof(HeartbeatInterval), nameof(AckTimeout),
            nameof(RunHandlersOnPool), nameof(ReadAheadByteLimit));
        ConfigurationErrors.Named(section, () => section.Bind(this));
        options = ConfigurationErrors.Named(section.GetSection(nameof(AdvertiseHost)),
            () => options with { AdvertiseHost = AdvertiseHost ?? options.AdvertiseHost });
        return options with
        {
            HeartbeatInterval = HeartbeatInterval ?? options.HeartbeatInterval,
            AckTimeout = AckTimeout ?? options.AckTimeout,
            RunHandlersOnPool = RunHandlersOnPool ?? options.RunHandlersOnPool,
            ReadAheadByteLimit = ReadAheadByteLimit ?? options.ReadAheadByteLimit,
            ConfigureSocket = SocketKinds.Router.After(options.ConfigureSocket, section.GetSection(Keys.Options)),
        };
    }
}
