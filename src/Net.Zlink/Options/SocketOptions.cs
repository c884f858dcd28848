using Net.Zlink.Engine;
using Net.Zlink.Transports;
using Net.Zlink.Transports.Tcp;

namespace Net.Zlink;

/// <summary>What sockets of every type have in common: marks, limits, timeouts and the settings of their connections. Defaults are the
/// native core's unless the property says otherwise.</summary>
/// <remarks>
/// Options may be set at any time, and each says when a change counts. What acts at once reaches what is connected, too. High-water marks
/// and limits in bytes of ZMP sockets do, for the peers that there are; peers that come in later have the marks and limits of the moment at
/// which their endpoint was bound or connected (as natively: set them first). What holds for endpoints made afterwards reaches those that
/// are bound or connected after the change, and their connections. Not synchronised: set them from one thread at a time. A time of more
/// than int.MaxValue milliseconds (24.8 days, the longest of the native core) counts as that.
/// </remarks>
public abstract class SocketOptions
{
    private bool? _ipv6;
    private TimeSpan? _linger;
    private ZlinkContextOptions? _context;

    private protected SocketOptions()
    {
    }

    /// <summary>
    /// Messages that may wait to be written to one peer. At the mark TrySend returns false and Send waits; but PUB and XPUB without NoDrop,
    /// XSUB, and ROUTER without Mandatory, accept the message, drop it, count it (<see cref="SocketStatistics.DroppedAtHighWaterMark"/>)
    /// and raise <see cref="Monitoring.SocketEventTypes.MessagesDropped"/>, as the native core does in silence. Null: no mark. Default
    /// 300,000.
    /// Acts at once; on STREAM for endpoints made afterwards.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is below 1.</exception>
    public int? SendHighWaterMark { get; set => Set(ref field, OptionRange.OrNull(value, 1, "no limit")); } = 300_000;

    /// <summary>Messages of one peer that may wait to be received; at the mark that peer is not read, so that TCP pushes back to it. May be
    /// passed by one read (64 KiB). Null: no mark. Default 300,000. Acts at once; on STREAM for endpoints made afterwards.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is below 1.</exception>
    public int? ReceiveHighWaterMark { get; set => Set(ref field, OptionRange.OrNull(value, 1, "no limit")); } = 300_000;

    /// <summary>Bytes, frame headers included, that may wait to be written to one peer; at least one message always fits. Null: no limit,
    /// as in the native core. Default 64 MiB. Acts at once; on STREAM for endpoints made afterwards.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is below 1.</exception>
    public long? SendByteLimit { get; set => Set(ref field, OptionRange.OrNull(value, 1, "no limit")); } = 64L * 1024 * 1024;

    /// <summary>Bytes of one peer that may wait to be received. Null: no limit. Default 64 MiB. Of PUB and XPUB also what one subscriber's
    /// topics may take up, each counted as 640 bytes and twice its length, and 1 MiB at least, unless it is in this context. Acts at once;
    /// on STREAM for endpoints made afterwards.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is below 1.</exception>
    public long? ReceiveByteLimit { get; set => Set(ref field, OptionRange.OrNull(value, 1, "no limit")); } = 64L * 1024 * 1024;

    /// <summary>Connections that the system may hold until they are accepted; the system caps it (net.core.somaxconn). Default 65,536 for
    /// STREAM, 4,096 for the others: with 100, 20,000 clients that came at once needed 51 s. For endpoints made afterwards.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative.</exception>
    public int Backlog { get; set => field = OptionRange.InRange(value, 0); } = 4096;

    /// <summary>Connections this socket holds at the same time; further ones are closed at once, with an event and a count. Null (default):
    /// no cap. Acts at once; on STREAM for endpoints made afterwards.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is below 1.</exception>
    public int? MaxConnections { get; set => Set(ref field, OptionRange.OrNull(value, 1, "no limit")); }

    /// <summary>Allow IPv6 in names, literals and wildcards; bind then listens on both families. Null (default):
    /// <see cref="ZlinkContextOptions.IPv6"/> of the socket's context, which is false and is read here once there is a socket. For
    /// endpoints made afterwards.</summary>
    public bool? IPv6 { get => _ipv6 ?? _context?.IPv6; set => _ipv6 = value; }

    /// <summary>Let several sockets, which must all ask for it, listen on the same address. Default false; the native core always shares.
    /// For endpoints made afterwards.</summary>
    public bool ShareAddress { get; set; }

    /// <summary>SO_SNDBUF in bytes; null (default): the system decides. For endpoints made afterwards.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative.</exception>
    public int? SendBufferSize { get; set => field = OptionRange.OrNull(value, 0, "the value of the system"); }

    /// <summary>SO_RCVBUF in bytes; null (default): the system decides. For endpoints made afterwards.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative.</exception>
    public int? ReceiveBufferSize { get; set => field = OptionRange.OrNull(value, 0, "the value of the system"); }

    /// <summary>TCP keep-alive: null (default) leaves it to the system. For endpoints made afterwards.</summary>
    public bool? KeepAlive { get; set; }

    /// <summary>Unanswered probes until the connection counts as lost; null (default): the system's. Used when <see cref="KeepAlive"/> is
    /// true, as are the next two. For endpoints made afterwards.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is below 1.</exception>
    public int? KeepAliveCount { get; set => field = OptionRange.OrNull(value, 1, "the value of the system"); }

    /// <summary>The silence before the first probe, in whole seconds; null (default): the system's. For endpoints made
    /// afterwards.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is below 1 second, or no whole number of seconds.</exception>
    public TimeSpan? KeepAliveIdle { get; set => field = OptionRange.SecondsOrNull(value); }

    /// <summary>The time between probes, in whole seconds; null (default): the system's. For endpoints made afterwards.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is below 1 second, or no whole number of seconds.</exception>
    public TimeSpan? KeepAliveInterval { get; set => field = OptionRange.SecondsOrNull(value); }

    /// <summary>How long Send without a timeout of its own waits for room. Default: as long as it takes. Acts at once, on the calls that
    /// follow.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative and not infinite.</exception>
    public TimeSpan SendTimeout { get; set => field = OptionRange.Time(value, mayBeInfinite: true); } = Timeout.InfiniteTimeSpan;

    /// <summary>How long Receive without a timeout of its own waits for a message. Default: as long as it takes. Acts at once, on the calls
    /// that follow.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative and not infinite.</exception>
    public TimeSpan ReceiveTimeout { get; set => field = OptionRange.Time(value, mayBeInfinite: true); } = Timeout.InfiniteTimeSpan;

    /// <summary>
    /// How long a peer that this side ends may go on taking what Send accepted. Null (default):
    /// <see cref="ZlinkContextOptions.DefaultLinger"/> of the socket's context, which is as long as it takes and is read here once there is
    /// a socket; SUB and XSUB: zero.
    /// After that what waits is dropped, and counted; a message that has begun to leave, and the end of the connection, still have
    /// <see cref="CloseTimeout"/> each.
    /// The end of the context cuts it short after its shutdown timeout, and nothing else does: a disposed socket whose peer never comes
    /// lives, and counts in MaxSockets, until then. Set a finite time where sockets come and go.
    /// Acts at once: the value at the close counts. Of STREAM that holds where the socket is disposed; for the end of a single peer
    /// (Disconnect, Unbind, a completed pipe) a change counts for endpoints made afterwards.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative and not infinite.</exception>
    public TimeSpan? Linger
    {
        get => _linger ?? _context?.DefaultLinger;
        set => _linger = value is { } time ? OptionRange.Time(time, mayBeInfinite: true, nameof(value)) : null;
    }

    /// <summary>
    /// How long to wait for the peer's end of the connection after ours, for a peer that ended first to take what Send had accepted, and
    /// behind a <see cref="Linger"/> that is over, or zero, for what has begun to leave. Default 5 seconds:
    /// a live peer answers within a round trip; a dead one holds a descriptor no longer than this. So the end of a socket or a context
    /// takes this long while a peer does not end its side, with a linger time of zero too; each of what has begun to leave and, over tls,
    /// ws and wss, the farewell may take as long before that. <see cref="ZlinkContextOptions.ShutdownTimeout"/> cuts all of it short.
    /// A <see cref="StreamPipe"/> that has ended its side and still reads is not ended by it over tcp, tls and ipc: the time begins when
    /// nobody reads any more. For endpoints made afterwards.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative or infinite.</exception>
    public TimeSpan CloseTimeout { get; set => field = OptionRange.Time(value, mayBeInfinite: false); } = TimeSpan.FromSeconds(5);

    /// <summary>How long one attempt to connect may take, all addresses of a name together. Zero (default): the system's own limit, minutes
    /// as a rule. For endpoints made afterwards.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative or infinite.</exception>
    public TimeSpan ConnectTimeout { get; set => field = OptionRange.Time(value, mayBeInfinite: false); }

    /// <summary>
    /// How long each phase of a handshake may take: TLS, the WebSocket upgrade, and that of ZMP; a connection that takes longer is closed.
    /// STREAM over tcp and ipc has no handshake and no such limit. Zero: no limit. Default 30 seconds. For endpoints made afterwards.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative or infinite.</exception>
    public TimeSpan HandshakeInterval { get; set => field = OptionRange.Time(value, mayBeInfinite: false); } = TimeSpan.FromSeconds(30);

    /// <summary>Options of tls and wss endpoints. For endpoints made afterwards.</summary>
    public TlsOptions Tls { get; } = new();

    /// <summary>Options of ws and wss endpoints. For endpoints made afterwards.</summary>
    public WebSocketTransportOptions WebSocket { get; } = new();

    /// <summary>
    /// How long what was sent may stay unacknowledged until the connection counts as lost (TCP_USER_TIMEOUT on Linux, TCP_RXT_CONNDROPTIME
    /// on macOS, TCP_MAXRT on Windows; the latter two in whole seconds). Zero (default): the system's own limit, many minutes. Connections
    /// over tcp only; where the system does not have it, it has no effect. For endpoints made afterwards.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative, infinite or above 2,147,483,647 ms.</exception>
    public TimeSpan MaxUnacknowledged { get; set => field = OptionRange.TimeUpTo(value, OptionRange.LongestTime); }

    /// <summary>The IP type of service of what is sent, 0 (default: the system's) to 255; on IPv6 the traffic class. Connections over tcp,
    /// in both directions. For endpoints made afterwards.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is not within 0 to 255.</exception>
    public int TypeOfService { get; set => field = OptionRange.InRange(value, 0, byte.MaxValue); }

    /// <summary>
    /// The network interface that connections over tcp use, such as "eth0"; empty (default): whichever leads there. Linux only: elsewhere
    /// binding and connecting fail while it is set. For endpoints made afterwards.
    /// The native core has the option and does not act on it.
    /// </summary>
    /// <exception cref="ArgumentException">The name is longer than 15 bytes, as long as Linux lets one be.</exception>
    public string BindToDevice
    {
        get;
        set
        {
            OptionRange.NotNull(value, "an empty name leaves it to the system");
            if (System.Text.Encoding.UTF8.GetByteCount(value) > TcpSettings.LongestDevice || value.Contains('\0', StringComparison.Ordinal))
            {
                throw new ArgumentException(
                    $"{nameof(BindToDevice)} takes the name of an interface, which has at most {TcpSettings.LongestDevice} bytes and no "
                    + $"zero among them.", nameof(value));
            }

            field = value;
        }
    } = "";

    /// <summary>Told when an option changed that acts at once.</summary>
    internal ZmpSocket? Watcher { get; set; }

    internal TimeSpan LingerTime => Linger ?? Timeout.InfiniteTimeSpan;

    internal QueueLimits SendLimits => new(SendHighWaterMark ?? 0, SendByteLimit ?? 0);

    internal QueueLimits ReceiveLimits => new(ReceiveHighWaterMark ?? 0, ReceiveByteLimit ?? 0);

    /// <summary>They are a socket's from now on, and have its context's defaults for what was not set here.</summary>
    /// <remarks>Two sockets with one options object would be two peers with one routing id, of which a ROUTER turns one away, and only one
    /// of them would see changes that act at once.</remarks>
    /// <exception cref="InvalidOperationException">They are another socket's.</exception>
    internal void BelongTo(ZlinkContextOptions context)
    {
        if (Interlocked.CompareExchange(ref _context, context, null) is not null)
        {
            throw new InvalidOperationException($"These {GetType().Name} are another socket's: make new ones for each socket.");
        }
    }

    /// <summary>The socket was not made after all.</summary>
    internal void BelongToNobody()
    {
        Watcher = null;
        _context = null;
    }

    internal ConnectionSettings ConnectionSettings(long messageLimit, TimeSpan idleTimeout, TimeSpan writeTimeout) => new()
    {
        MessageLimit = messageLimit,
        Outbound = SendLimits,
        IdleTimeout = idleTimeout,
        WriteTimeout = writeTimeout,
        Linger = LingerTime,
        CloseTimeout = CloseTimeout,
    };

    internal TransportSettings TransportSettings => new()
    {
        Tcp = TcpSettings,
        Tls = Tls.Snapshot(),
        WebSocket = WebSocket.Snapshot(),
        HandshakeTimeout = HandshakeInterval,
        CloseTimeout = CloseTimeout,
    };

    internal TcpSettings TcpSettings => new()
    {
        SendBufferSize = SendBufferSize ?? -1,
        ReceiveBufferSize = ReceiveBufferSize ?? -1,
        Backlog = Backlog,
        IPv6 = IPv6 ?? false,
        ShareAddress = ShareAddress,
        KeepAlive = KeepAlive switch { null => -1, false => 0, true => 1 },
        KeepAliveCount = KeepAliveCount ?? -1,
        KeepAliveIdleSeconds = (int?)KeepAliveIdle?.TotalSeconds ?? -1,
        KeepAliveIntervalSeconds = (int?)KeepAliveInterval?.TotalSeconds ?? -1,
        ConnectTimeout = ConnectTimeout,
        TypeOfService = TypeOfService,
        MaxUnacknowledged = MaxUnacknowledged,
        Device = BindToDevice,
    };

    /// <summary>Sets an option that acts at once.</summary>
    private protected void Set<T>(ref T field, T value)
    {
        field = value;
        Watcher?.OnOptionChanged();
    }
}
