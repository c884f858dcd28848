namespace Net.Zlink.Extensions.ServiceDiscovery;

/// <summary>How a <see cref="ServiceDiscoveryDirectory"/> asks.</summary>
public sealed record ServiceDiscoveryDirectoryOptions
{
    /// <summary>The scheme of the queries, and of endpoints that have none: <c>tcp</c>, <c>tls</c>, <c>ws</c> or <c>wss</c>.
    /// <c>tcp</c>.</summary>
    public string Transport { get; init; } = "tcp";

    /// <summary>How long at most until a service is resolved again, where its provider reports no change, or resolving has failed. Greater
    /// than zero. 5 s.</summary>
    public TimeSpan RefreshInterval { get; init; } = TimeSpan.FromSeconds(5);
}
