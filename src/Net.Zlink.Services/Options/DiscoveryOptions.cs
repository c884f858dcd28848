namespace Net.Zlink.Services;

/// <summary>How a discovery treats registries that are lost or come again.</summary>
public sealed record DiscoveryOptions
{
    /// <summary>What a registry listed stays for this long after its connection ended, and longer while no other registry is connected:
    /// gateways judge receivers by their own connections. Default 30 s.</summary>
    public TimeSpan StaleViewTimeout { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>What a registry listed before it was restarted stays for this long: its receivers register again meanwhile. Default 15
    /// s.</summary>
    public TimeSpan RestartTimeout { get; init; } = TimeSpan.FromSeconds(15);

    /// <summary>Changes the options of the socket that is connected to the registries, before it is made: TLS, heartbeats,
    /// reconnecting.</summary>
    public Action<SubOptions>? ConfigureSocket { get; init; }
}
