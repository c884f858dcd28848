namespace Net.Zlink.Services;

/// <summary>The settings of a <see cref="ServiceRegistry"/>. Copied when it is made. Times are counted by the clock of the
/// context.</summary>
public sealed class ServiceRegistryOptions
{
    // Also for the end of each connection: one peer that is stopped would hold up the end of the process for 5 s.
    private static readonly TimeSpan Linger = TimeSpan.FromSeconds(1);

    // A registry whose machine is gone sends no FIN. The interval and the time are those of leases.
    private static readonly TimeSpan PeerHeartbeatInterval = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan PeerHeartbeatTimeout = TimeSpan.FromSeconds(15);

    private const int MaxRequestBytes = 64 * 1024;
    private const int MaxRequestParts = 16;

    /// <summary>Where discoveries and peer registries connect: any endpoint that sockets bind, also inproc.</summary>
    public required string PublisherEndpoint { get; set; }

    /// <summary>Where receivers and nodes connect: any endpoint that sockets bind, also inproc.</summary>
    public required string RouterEndpoint { get; set; }

    /// <summary>The number of this registry, not 0, different from that of every peer. Null: a random one at each start.</summary>
    public uint? Id { get; set; }

    /// <summary>
    /// The number of the first list. Null: 0 with a random <see cref="Id"/>, otherwise the clock, so that a restart is believed at once.
    /// </summary>
    public ulong? InitialSequence { get; set; }

    /// <summary>The publisher endpoints of all other registries. Each must have each as its peer: a full mesh.</summary>
    public IList<string> Peers { get; set; } = [];

    /// <summary>
    /// Whether a registry with peers sends them its own entries apart from what it learned (REGISTRY_SYNC). Without that entries travel
    /// through registries, as in the native core, and a removed one may come back.
    /// </summary>
    public bool SendOwnEntries { get; set; } = true;

    /// <summary>An entry whose last heartbeat is older is removed. 15 s as in the native core.</summary>
    public TimeSpan HeartbeatTimeout { get; set; } = TimeSpan.FromSeconds(15);

    /// <summary>How often the list is sent where nothing changes. 30 s as in the native core.</summary>
    public TimeSpan BroadcastInterval { get; set; } = TimeSpan.FromSeconds(30);

    /// <summary>Changes that come sooner after a list share the next one. 10 ms.</summary>
    public TimeSpan MinBroadcastInterval { get; set; } = TimeSpan.FromMilliseconds(10);

    /// <summary>
    /// How many bytes of broadcast lists go out in a second, to all followers together; then changes wait for each other, and the latest
    /// state is sent. 20,000,000. A list of 100 entries has about 12 KB, of 100,000 about 12 MB.
    /// </summary>
    public long MaxBroadcastBytesPerSecond { get; set; } = 20_000_000;

    /// <summary>
    /// The entries of a peer that is connected and silent for longer are dropped. Null: three times <see cref="BroadcastInterval"/>, as
    /// in the native core.
    /// </summary>
    public TimeSpan? PeerTimeout { get; set; }

    /// <summary>
    /// How many entries it lists, own and learned; further registrations are refused, and further entries of peers left out. 100,000, which
    /// is the most that followers take. A list has at most 32 MiB, too.
    /// </summary>
    public int MaxEntries { get; set; } = ListLimits.MaxEntries;

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
    public Func<RegistrationRequest, CancellationToken, ValueTask<RegistrationAdmission>>? Admission { get; set; }

    /// <summary>
    /// How long <see cref="Admission"/> may take; then its token is cancelled. 4 s: receivers wait 5 s for an answer by default.
    /// </summary>
    public TimeSpan AdmissionTimeout { get; set; } = TimeSpan.FromSeconds(4);

    /// <summary>The options of the socket that discoveries and peers connect to. Unlike an XPUB's defaults: linger and close times of 1 s.
    /// <see cref="XPubOptions.Notices"/> is the registry's own.</summary>
    public XPubOptions PublisherSocket { get; private set; } = new() { Linger = Linger, CloseTimeout = Linger };

    /// <summary>The options of the socket that receivers and nodes connect to. Unlike a ROUTER's defaults: linger and close times of 1 s,
    /// and messages of 16 parts with 64 KiB at most. <see cref="RouterOptions.OnDuplicateRoutingId"/> is the registry's own.</summary>
    public RouterOptions RouterSocket { get; private set; } = new()
    {
        Linger = Linger,
        CloseTimeout = Linger,
        MaxMessageSize = MaxRequestBytes,
        MaxMessageParts = MaxRequestParts,
    };

    /// <summary>The options of the socket that is connected to the peers. Unlike a SUB's defaults: a heartbeat every 5 s with 15 s for the
    /// answer, a close time of 1 s, and as many parts as the largest list has.</summary>
    public SubOptions PeerSocket { get; private set; } = new()
    {
        HeartbeatInterval = PeerHeartbeatInterval,
        HeartbeatTimeout = PeerHeartbeatTimeout,
        MaxMessageParts = ListLimits.MaxParts,
        CloseTimeout = Linger,
    };

    /// <summary>Checks the values.</summary>
    /// <exception cref="ArgumentException">One is missing or out of its range; the message names the property and says what it
    /// takes.</exception>
    public void Validate()
    {
        OptionTexts.NotEmpty(PublisherEndpoint, "write where discoveries connect, such as tcp://*:5560");
        OptionTexts.NotEmpty(RouterEndpoint, "write where receivers connect, such as tcp://*:5561");
        foreach (string peer in Peers)
        {
            OptionTexts.NotEmpty(peer, "each is the publisher endpoint of another registry", nameof(Peers));
        }

        OptionRange.InRange((long?)Id ?? 1, 1, argument: nameof(Id));
        OptionRange.TimeAboveZero(HeartbeatTimeout);
        OptionRange.TimeAboveZero(BroadcastInterval);
        OptionRange.Time(MinBroadcastInterval, mayBeInfinite: false);
        OptionRange.InRange(MaxBroadcastBytesPerSecond, 1);
        OptionRange.TimeAboveZero(PeerTimeout ?? BroadcastInterval, nameof(PeerTimeout));
        OptionRange.InRange(MaxEntries, 0, ListLimits.MaxEntries);
        OptionRange.TimeAboveZero(AdmissionTimeout);
    }

    internal ServiceRegistryOptions ValidCopy()
    {
        Validate();
        var copy = (ServiceRegistryOptions)MemberwiseClone();
        copy.Peers = [.. Peers];
        copy.PublisherSocket = PublisherSocket.Copy();
        copy.RouterSocket = RouterSocket.Copy();
        copy.PeerSocket = PeerSocket.Copy();
        return copy;
    }
}
