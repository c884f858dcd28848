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
    /// How many bytes of broadcast lists go out in a second, to all followers together; then changes wait for each other, and the latest
    /// state is sent. 20,000,000. A list of 100 entries has about 12 KB, of 100,000 about 12 MB.
    /// </summary>
    public long MaxBroadcastBytesPerSecond { get; init; } = 20_000_000;

    /// <summary>
    /// The entries of a peer that is connected and silent for longer are dropped. Null: three times <see cref="BroadcastInterval"/>, as
    /// in the native core.
    /// </summary>
    public TimeSpan? PeerTimeout { get; init; }

    /// <summary>
    /// How many entries it lists, own and learned; further registrations are refused, and further entries of peers left out. 100,000, which
    /// is the most that followers take. A list has at most 32 MiB, too.
    /// </summary>
    public int MaxEntries { get; init; } = ListLimits.MaxEntries;

    /// <summary>
    /// Decides who may register and change entries, in addition to the rule that an entry is changed by its owner alone. Null: everybody
    /// that can connect may register.
    /// </summary>
    /// <remarks>
    /// Asked about each REGISTER and UPDATE_WEIGHT, except an exact repeat by the same connection, and about an UNREGISTER or HEARTBEAT of
    /// who is not the owner. Called on the thread pool, up to 64 calls at a time, outside any lock. Later requests of the same connection
    /// wait, those of others do not. Equal questions that are open share one call. One that throws, or exceeds
    /// <see cref="AdmissionTimeout"/>, refuses for now: clients ask again.
    /// </remarks>
    public Func<RegistrationRequest, CancellationToken, ValueTask<RegistrationAdmission>>? Admission { get; init; }

    /// <summary>
    /// How long <see cref="Admission"/> may take; then its token is cancelled. 4 s: receivers wait 5 s for an answer by default.
    /// </summary>
    public TimeSpan AdmissionTimeout { get; init; } = TimeSpan.FromSeconds(4);

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
        Require(options.MaxBroadcastBytesPerSecond > 0, nameof(MaxBroadcastBytesPerSecond));
        Require(options.PeerTimeout is null || options.PeerTimeout > TimeSpan.Zero, nameof(PeerTimeout));
        Require(options.MaxEntries is >= 0 and <= ListLimits.MaxEntries, nameof(MaxEntries));
        Require(options.AdmissionTimeout > TimeSpan.Zero, nameof(AdmissionTimeout));

        void Require(bool isGood, string setting)
        {
            if (!isGood)
            {
                throw new ArgumentOutOfRangeException(nameof(options), $"RegistryOptions.{setting} is missing or out of its range.");
            }
        }
    }
}
