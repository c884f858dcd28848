namespace Net.Zlink.Services;

/// <summary>The settings of a <see cref="Registry"/>, read when it starts. Times are counted by the clock of the context.</summary>
public sealed record RegistryOptions
{
    /// <summary>Where discoveries and peer registries connect: any endpoint that sockets bind, also inproc.</summary>
    public required string PublisherEndpoint { get; init; }

    /// <summary>Where receivers and nodes connect: any endpoint that sockets bind, also inproc.</summary>
    public required string RouterEndpoint { get; init; }

    /// <summary>The number of this registry, not 0, different from that of every peer. Null: a random one at each start.</summary>
    public uint? Id { get; init; }

    /// <summary>
    /// The number of the first list. Null: 0 with a random <see cref="Id"/>, otherwise the clock, so that a restart is believed at once.
    /// </summary>
    public ulong? InitialSequence { get; init; }

    /// <summary>The publisher endpoints of all other registries. Each must have each as its peer: a full mesh.</summary>
    public IReadOnlyList<string> Peers { get; init; } = [];

    /// <summary>
    /// Whether a registry with peers sends them its own entries apart from what it learned (REGISTRY_SYNC). Without that entries travel
    /// through registries, as in the native core, and a removed one may come back.
    /// </summary>
    public bool SendOwnEntries { get; init; } = true;

    /// <summary>An entry whose last heartbeat is older is removed. 15 s as in the native core.</summary>
    public TimeSpan HeartbeatTimeout { get; init; } = TimeSpan.FromSeconds(15);

    /// <summary>How often the list is sent where nothing changes. 30 s as in the native core.</summary>
    public TimeSpan BroadcastInterval { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>Changes that come sooner after a list share the next one. 10 ms.</summary>
    public TimeSpan MinBroadcastInterval { get; init; } = TimeSpan.FromMilliseconds(10);

    /// <summary>
    /// The entries of a peer that is connected and silent for longer are dropped. Null: three times <see cref="BroadcastInterval"/>, as
    /// in the native core.
    /// </summary>
    public TimeSpan? PeerTimeout { get; init; }

    /// <summary>How many own entries it takes; further registrations are refused. 100,000.</summary>
    public int MaxEntries { get; init; } = 100_000;

    /// <summary>
    /// Decides each REGISTER: null accepts it, a text refuses it with status 0x02 and is sent. Called on the thread pool, one call at a
    /// time, outside any lock; one that throws refuses.
    /// </summary>
    public Func<RegistrationRequest, string?>? Admission { get; init; }

    /// <summary>Sets further options of the XPUB socket, for example TLS.</summary>
    public Action<XPubOptions>? ConfigurePublisher { get; init; }

    /// <summary>Sets further options of the ROUTER socket.</summary>
    public Action<RouterOptions>? ConfigureRouter { get; init; }

    /// <summary>Sets further options of the SUB socket that connects to the peers.</summary>
    public Action<SubOptions>? ConfigurePeers { get; init; }

    /// <exception cref="ArgumentOutOfRangeException">A setting is missing or out of its range.</exception>
    internal static void Validate(RegistryOptions options)
    {
        Require(!string.IsNullOrEmpty(options.PublisherEndpoint), nameof(PublisherEndpoint));
        Require(!string.IsNullOrEmpty(options.RouterEndpoint), nameof(RouterEndpoint));
        Require(options.Peers is not null && options.Peers.All(static peer => !string.IsNullOrEmpty(peer)), nameof(Peers));
        Require(options.Id != 0, nameof(Id));
        Require(options.HeartbeatTimeout > TimeSpan.Zero, nameof(HeartbeatTimeout));
        Require(options.BroadcastInterval > TimeSpan.Zero, nameof(BroadcastInterval));
        Require(options.MinBroadcastInterval >= TimeSpan.Zero, nameof(MinBroadcastInterval));
        Require(options.PeerTimeout is null || options.PeerTimeout > TimeSpan.Zero, nameof(PeerTimeout));
        Require(options.MaxEntries >= 0, nameof(MaxEntries));

        void Require(bool isGood, string setting)
        {
            if (!isGood)
            {
                throw new ArgumentOutOfRangeException(nameof(options), $"RegistryOptions.{setting} is missing or out of its range.");
            }
        }
    }
}
