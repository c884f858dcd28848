using Microsoft.Extensions.Configuration;

namespace Net.Zlink.Extensions.Hosting;

/// <summary>What is null stays as it was.</summary>
internal sealed class ContextSettings
{
    public int? ShardCount { get; set; }

    public int? TlsAndWebSocketShardCount { get; set; }

    public TimeSpan? ShutdownTimeout { get; set; }

    public TimeSpan? DefaultLinger { get; set; }

    public int? MaxSockets { get; set; }

    public int? MaxHandshakes { get; set; }

    public long? QueuedByteLimit { get; set; }

    public long? UnfinishedByteLimit { get; set; }

    public long? SubscriptionByteLimit { get; set; }

    public bool? IPv6 { get; set; }

    public static ContextSettings Of(IConfigurationSection section)
    {
        var settings = new ContextSettings();
        ConfigurationErrors.Named(section, () => section.Bind(settings, static binder => binder.ErrorOnUnknownConfiguration = true));
        return settings;
    }

    public ZlinkContextOptions ApplyTo(ZlinkContextOptions options) => options with
    {
        ShardCount = ShardCount ?? options.ShardCount,
        TlsAndWebSocketShardCount = TlsAndWebSocketShardCount ?? options.TlsAndWebSocketShardCount,
        ShutdownTimeout = ShutdownTimeout ?? options.ShutdownTimeout,
        DefaultLinger = DefaultLinger ?? options.DefaultLinger,
        MaxSockets = MaxSockets ?? options.MaxSockets,
        MaxHandshakes = MaxHandshakes ?? options.MaxHandshakes,
        QueuedByteLimit = QueuedByteLimit ?? options.QueuedByteLimit,
        UnfinishedByteLimit = UnfinishedByteLimit ?? options.UnfinishedByteLimit,
        SubscriptionByteLimit = SubscriptionByteLimit ?? options.SubscriptionByteLimit,
        IPv6 = IPv6 ?? options.IPv6,
    };
}
