using Net.Zlink.Engine;
using Net.Zlink.Transports;

namespace Net.Zlink;

/// <summary>
/// The options of all socket types: high-water marks, limits, timeouts and connection settings. Defaults are the native core's unless the
/// property says otherwise.
/// </summary>
/// <remarks>
/// <para>
/// A socket copies the options that it is made with. Its own options may be changed while it lives, and each says when a change takes
/// effect. "Acts at once": also for connected peers. Later peers get the marks and limits of the
/// moment when their endpoint was bound or connected, as in the native core. "For endpoints made afterwards": for endpoints that are bound
/// or connected after the change.
/// </para>
/// <para>Not thread-safe. Times above int.MaxValue milliseconds (24.8 days) count as that.</para>
/// </remarks>
public abstract class SocketOptions
{
    private ZlinkContextOptions? _context;

    private protected SocketOptions()
    {
    }

    /// <summary>
    /// The limit of messages that wait to be written to one peer. At the limit TrySend returns false and Send waits. PUB and XPUB without
    /// NoDrop, XSUB, and ROUTER without Mandatory instead drop the message, count it
    /// (<see cref="SocketStatistics.DroppedAtHighWaterMark"/>) and raise <see cref="Monitoring.SocketEventTypes.MessagesDropped"/>. Null:
    /// no limit. Default 300,000. Acts at once; on STREAM for endpoints made afterwards.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is below 1.</exception>
    public int? SendHighWaterMark { get; set => Set(ref field, OptionRange.OrNull(value, 1, "no limit")); } = 300_000;

    /// <summary>
    /// The limit of unread messages of one peer. At the limit the peer is not read, so TCP slows it down. One read (64 KiB) may exceed it.
    /// Null: no limit. Default 300,000. Acts at once; on STREAM for endpoints made afterwards.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is below 1.</exception>
    public int? ReceiveHighWaterMark { get; set => Set(ref field, OptionRange.OrNull(value, 1, "no limit")); } = 300_000;

    /// <summary>
    /// The limit of bytes, with frame headers, that wait to be written to one peer. One message always fits. Null: no limit, as in the
    /// native core. Default 64 MiB. Acts at once; on STREAM for endpoints made afterwards.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is below 1.</exception>
    public long? SendByteLimit { get; set => Set(ref field, OptionRange.OrNull(value, 1, "no limit")); } = 64L * 1024 * 1024;

    /// <summary>
    /// The limit of unread bytes of one peer. Null: no limit. Default 64 MiB. For PUB and XPUB also the limit of one subscriber's topics,
    /// each counted as 640 bytes and twice its length; it is at least 1 MiB, and does not apply to inproc. Acts at once; on STREAM for
    /// endpoints made afterwards.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is below 1.</exception>
    public long? ReceiveByteLimit { get; set => Set(ref field, OptionRange.OrNull(value, 1, "no limit")); } = 64L * 1024 * 1024;

    /// <summary>Connections that the system may hold until they are accepted; the system caps it (net.core.somaxconn). Default 65,536 for
    /// STREAM, 4,096 for the others: with 100, 20,000 clients that came at once needed 51 s. For endpoints made afterwards.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative.</exception>
    public int Backlog { get; set => field = OptionRange.InRange(value, 0); } = 4096;

    /// <summary>
    /// The limit of connections of this socket. Further ones are closed at once, with an event and a count. Null (default): no limit. Acts
    /// at once; on STREAM for endpoints made afterwards.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is below 1.</exception>
    public int? MaxConnections { get; set => Set(ref field, OptionRange.OrNull(value, 1, "no limit")); }

    /// <summary>
    /// Allow IPv6 in names, addresses and wildcards. Bind then listens on both families. Null (default):
    /// <see cref="ZlinkContextOptions.IPv6"/> of the context, which is returned here once there is a socket. For endpoints made afterwards.
    /// </summary>
    public bool? IPv6 { get => field ?? _context?.IPv6; set; }

    /// <summary>
    /// Let several sockets that all set it listen on the same address. Default false; the native core always shares. For endpoints made
    /// afterwards.
    /// </summary>
    public bool ShareAddress { get; set; }

    /// <summary>SO_SNDBUF in bytes. Null (default): the system's value. For endpoints made afterwards.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative.</exception>
    public int? SendBufferSize { get; set => field = OptionRange.OrNull(value, 0, "the value of the system"); }

    /// <summary>SO_RCVBUF in bytes. Null (default): the system's value. For endpoints made afterwards.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative.</exception>
    public int? ReceiveBufferSize { get; set => field = OptionRange.OrNull(value, 0, "the value of the system"); }

    /// <summary>TCP keep-alive. Null (default): the system's value. For endpoints made afterwards.</summary>
    public bool? KeepAlive { get; set; }

    /// <summary>
    /// How many probes may go unanswered before the connection is lost. Null (default): the system's value. Used with
    /// <see cref="KeepAlive"/>, as are the next two. For endpoints made afterwards.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is below 1.</exception>
    public int? KeepAliveCount { get; set => field = OptionRange.OrNull(value, 1, "the value of the system"); }

    /// <summary>
    /// The silence before the first probe, in whole seconds. Null (default): the system's value. For endpoints made afterwards.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is below 1 second, or no whole number of seconds.</exception>
    public TimeSpan? KeepAliveIdle { get; set => field = OptionRange.SecondsOrNull(value); }

    /// <summary>The time between probes, in whole seconds. Null (default): the system's value. For endpoints made afterwards.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is below 1 second, or no whole number of seconds.</exception>
    public TimeSpan? KeepAliveInterval { get; set => field = OptionRange.SecondsOrNull(value); }

    /// <summary>How long Send without a timeout of its own waits for capacity. Default: no limit. Acts at once, for later calls.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative and not infinite.</exception>
    public TimeSpan SendTimeout { get; set => field = OptionRange.Time(value, mayBeInfinite: true); } = Timeout.InfiniteTimeSpan;

    /// <summary>
    /// How long Receive without a timeout of its own waits for a message. Default: no limit. Acts at once, for later calls.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative and not infinite.</exception>
    public TimeSpan ReceiveTimeout { get; set => field = OptionRange.Time(value, mayBeInfinite: true); } = Timeout.InfiniteTimeSpan;

    /// <summary>
    /// How long accepted messages are still written to peers that this side ends. Then the rest is dropped and counted. Null (default):
    /// <see cref="ZlinkContextOptions.DefaultLinger"/> of the context, which is no limit; SUB and XSUB: zero. Acts at once: the value at
    /// the close counts. For the end of a single STREAM peer (Disconnect, Unbind, a completed pipe): for endpoints made afterwards.
    /// </summary>
    /// <remarks>
    /// A message that has begun to leave, and the end of the connection, still have <see cref="CloseTimeout"/> each. Only the context's
    /// shutdown cuts the time short. Until then a disposed socket whose peer never comes counts in MaxSockets, so set a finite time where
    /// sockets come and go.
    /// </remarks>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative and not infinite.</exception>
    public TimeSpan? Linger
    {
        get => field ?? _context?.DefaultLinger;
        set => field = value is { } time ? OptionRange.Time(time, mayBeInfinite: true, nameof(value)) : null;
    }

    /// <summary>
    /// How long to wait for the peer's end of a connection after ours. Also how long a peer that ended first may read accepted messages,
    /// and how long a begun message may still leave after <see cref="Linger"/>. Default 5 seconds. For endpoints made afterwards.
    /// </summary>
    /// <remarks>
    /// <para>
    /// A live peer answers within a round trip, and a dead one keeps a descriptor no longer than this. The end of a socket or context takes
    /// this long if a peer does not end its side, with a linger time of zero too. A begun message, and the farewell of tls, ws and wss, may
    /// each take as long before that. <see cref="ZlinkContextOptions.ShutdownTimeout"/> cuts all of it short.
    /// </para>
    /// <para>
    /// Over tcp, tls and ipc, a <see cref="StreamPipe"/> that has ended its side may read on. The time then begins with its last read.
    /// </para>
    /// </remarks>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative or infinite.</exception>
    public TimeSpan CloseTimeout { get; set => field = OptionRange.Time(value, mayBeInfinite: false); } = TimeSpan.FromSeconds(5);

    /// <summary>
    /// How long one attempt to connect may take, with all addresses of a name. Zero (default): the system's limit, usually minutes. For
    /// endpoints made afterwards.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative or infinite.</exception>
    public TimeSpan ConnectTimeout { get; set => field = OptionRange.Time(value, mayBeInfinite: false); }

    /// <summary>
    /// How long each phase of a handshake may take: TLS, the WebSocket upgrade, ZMP. A slower connection is closed. STREAM over tcp and ipc
    /// has no handshake. Zero: no limit, except that a connection waits at most 30 seconds for one of the context's
    /// <see cref="ZlinkContextOptions.MaxHandshakes"/>. Default 30 seconds. For endpoints made afterwards.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative or infinite.</exception>
    public TimeSpan HandshakeInterval { get; set => field = OptionRange.Time(value, mayBeInfinite: false); } = TimeSpan.FromSeconds(30);

    /// <summary>Options of tls and wss endpoints. Several sockets may use the same ones. For endpoints made afterwards.</summary>
    /// <exception cref="ArgumentNullException">The value is null.</exception>
    public TlsOptions Tls { get; set => field = value ?? throw new ArgumentNullException(nameof(value)); } = new();

    /// <summary>Options of ws and wss endpoints. For endpoints made afterwards.</summary>
    public WebSocketTransportOptions WebSocket { get; private set; } = new();

    /// <summary>
    /// How long sent bytes may stay unacknowledged before the connection is lost: TCP_USER_TIMEOUT on Linux, TCP_RXT_CONNDROPTIME on macOS,
    /// TCP_MAXRT on Windows (both in whole seconds). Zero (default): the system's limit, many minutes. Only for tcp, and only where the
    /// system supports it. For endpoints made afterwards.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative, infinite or above 2,147,483,647 ms.</exception>
    public TimeSpan MaxUnacknowledged { get; set => field = OptionRange.InRange(value, TimeSpan.Zero, OptionRange.LongestTime); }

    /// <summary>
    /// The IP type of service of sent packets, 0 (default: the system's) to 255. On IPv6 the traffic class. For tcp connections in both
    /// directions. For endpoints made afterwards.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is not within 0 to 255.</exception>
    public int TypeOfService { get; set => field = OptionRange.InRange(value, 0, byte.MaxValue); }

    /// <summary>
    /// The network interface of tcp connections, such as "eth0". Empty (default): by route. Linux only: on other systems bind and connect
    /// fail. The native core has the option without effect. For endpoints made afterwards.
    /// </summary>
    /// <exception cref="ArgumentException">The name is longer than 15 bytes, the limit of Linux.</exception>
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

    /// <summary>Checks what several values decide together, as a socket does when it is made. Setters have checked each value.</summary>
    /// <exception cref="ArgumentException">
    /// <see cref="WebSocketTransportOptions.RequestFields"/> or <see cref="WebSocketTransportOptions.SubProtocols"/> cannot be sent.
    /// </exception>
    public void Validate() => WebSocketRequestFields.Write(WebSocket.RequestFields, WebSocket.SubProtocols);

    /// <summary>Called after each change of an option that a living socket follows.</summary>
    internal Action? Changed { get; set; }

    internal TimeSpan LingerTime => Linger ?? Timeout.InfiniteTimeSpan;

    /// <summary>For one peer: if it does not read, it must not stay forever. An infinite time is negative, hence the casts.</summary>
    internal TimeSpan ShortLinger => (ulong)LingerTime.Ticks < (ulong)CloseTimeout.Ticks ? LingerTime : CloseTimeout;

    internal QueueLimits SendLimits => new(SendHighWaterMark ?? 0, SendByteLimit ?? 0);

    internal QueueLimits ReceiveLimits => new(ReceiveHighWaterMark ?? 0, ReceiveByteLimit ?? 0);

    internal SocketOptions CopyFor(ZlinkContextOptions context)
    {
        SocketOptions copy = CopyOfAll();
        copy._context = context;
        return copy;
    }

    /// <summary>Belongs to no socket.</summary>
    internal virtual SocketOptions CopyOfAll()
    {
        var copy = (SocketOptions)MemberwiseClone();
        copy.Changed = null;
        copy._context = null;
        copy.Tls = Tls.Copy();
        copy.WebSocket = WebSocket.Copy();
        return copy;
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

    internal TransportSettings TransportSettings
    {
        get
        {
            Validate();
            return new()
            {
                Tcp = TcpSettings,
                Tls = Tls.Copy(),
                WebSocket = WebSocket.Copy(),
                HandshakeTimeout = HandshakeInterval,
                CloseTimeout = CloseTimeout,
            };
        }
    }

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

    private protected void Set<T>(ref T field, T value)
    {
        field = value;
        Changed?.Invoke();
    }
}

/// <summary>Copies of the options of sockets.</summary>
public static class SocketOptionsExtensions
{
    /// <summary>Copies options for a further socket, or to keep them as they are: those of tls, ws and wss too, but not the objects in
    /// them, such as certificates. A routing id that was not set is another random one in the copy.</summary>
    /// <param name="options">The options, which a socket may have.</param>
    /// <typeparam name="TOptions">Their type.</typeparam>
    /// <returns>The copy, which no socket has.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="options"/> is null.</exception>
    public static TOptions Copy<TOptions>(this TOptions options)
        where TOptions : SocketOptions
    {
        ArgumentNullException.ThrowIfNull(options);
        return (TOptions)options.CopyOfAll();
    }
}
