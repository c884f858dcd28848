namespace Net.Zlink.Services;

/// <summary>One endpoint that a node connects to, or would. Guarded by the lock of the <see cref="PeerSet"/>.</summary>
internal sealed class SpotPeer(string endpoint)
{
    public string Endpoint { get; } = endpoint;

    /// <summary>The endpoint as events, peers and logs show it, without secrets.</summary>
    public RedactedEndpoint Redacted { get; } = endpoint;

    public bool IsInproc { get; } = InprocEndpoints.IsInproc(endpoint);

    public bool IsManual { get; set; }

    /// <summary>How many directories list it.</summary>
    public int Lists { get; set; }

    /// <summary>It is the node itself.</summary>
    public bool IsOwn { get; set; }

    public bool IsNamed => IsManual || (Lists > 0 && !IsOwn);

    /// <summary>It has a connection that works and is named, or another address of the same node is.</summary>
    public bool IsWanted => IsNamed || (IsReady && Node!.Alternates.Exists(static alternate => alternate.IsNamed));

    /// <summary>The socket has its endpoint.</summary>
    public bool IsOpen { get; set; }

    /// <summary>Its handshake is complete.</summary>
    public bool IsReady { get; set; }

    /// <summary>Another address of the same node is connected.</summary>
    public bool IsAlternate => Node is not null && !IsReady;

    /// <summary>It is no longer named, but its connection works and is kept until this time.</summary>
    public TimeSpan? KeptUntil { get; set; }

    public DateTimeOffset ReadyAt { get; set; }

    /// <summary>Its last connection is known to have worked until then; null: it is connected, or never was.</summary>
    public DateTimeOffset? LostAt { get; set; }

    /// <summary>Why it is not connected.</summary>
    public string? Problem { get; set; }

    /// <summary>It is not dialled, because its text is not a valid endpoint.</summary>
    public bool IsUnusable { get; set; }

    /// <summary>Which node is there, while it is ready or an alternate.</summary>
    public PeerNode? Node { get; set; }

    /// <summary>State of the messages of the present connection; null before the first.</summary>
    public PeerStream? Stream { get; set; }

    /// <summary>The gap that the first message of the present connection reports.</summary>
    public (SpotGap Gap, SubscriberQueue[] Subscribers)? Gap { get; set; }
}
