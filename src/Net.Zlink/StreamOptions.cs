using Net.Zlink.Engine;
using Net.Zlink.Protocol.Stream;
using Net.Zlink.Sockets;
using Net.Zlink.Transports.Tcp;

namespace Net.Zlink;

/// <summary>Options of a <see cref="StreamSocket"/>. Defaults are the native core's unless the property says otherwise.</summary>
/// <remarks>
/// Options may be set at any time. <see cref="SendTimeout"/> and <see cref="ReceiveTimeout"/> act at once; all others reach endpoints bound or connected
/// afterwards, and the connections of these. Not synchronised: set them from one thread at a time.
/// </remarks>
public sealed class StreamOptions
{
    /// <summary>
    /// The largest payload accepted from a peer, in bytes; a longer one ends that peer on its length field, before any memory is taken. -1 (default): 8 MiB,
    /// for every transport (the native core has no limit on tcp, docs/protocol.md section 2). 0: only empty payloads. At most what a .NET array holds.
    /// </summary>
    public long MaxMessageSize { get; set; } = -1;

    /// <summary>Messages that may wait to be written to one peer; at the mark TrySend returns false and Send waits. 0: no mark. Default 300,000.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative.</exception>
    public int SendHighWaterMark { get; set => field = NotNegative(value); } = 300_000;

    /// <summary>Messages of one peer that may wait to be received; at the mark that peer is not read, so that TCP pushes back to it. May be passed by one read (64 KiB). 0: no mark. Default 300,000.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative.</exception>
    public int ReceiveHighWaterMark { get; set => field = NotNegative(value); } = 300_000;

    /// <summary>Bytes, frame headers included, that may wait to be written to one peer; at least one message always fits. 0: no limit, as in the native core. Default 64 MiB.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative.</exception>
    public long SendByteLimit { get; set => field = NotNegative(value); } = 64L * 1024 * 1024;

    /// <summary>Bytes of one peer that may wait to be received. 0: no limit. Default 64 MiB.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative.</exception>
    public long ReceiveByteLimit { get; set => field = NotNegative(value); } = 64L * 1024 * 1024;

    /// <summary>
    /// Bytes of all peers together that may wait to be received by this socket; past it peers are read only as fast as messages are received. Read when the socket is made. 0: no limit.
    /// Default 8 MiB: it bounds a server's memory whatever the number of peers, and is what a fast consumer (1 GB/s) works off in 8 ms.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative.</exception>
    public long TotalReceiveByteLimit { get; set => field = NotNegative(value); } = 8L * 1024 * 1024;

    /// <summary>Connections that the system may hold until they are accepted; the system caps it (net.core.somaxconn). Default 65,536.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative.</exception>
    public int Backlog { get; set => field = NotNegative(value); } = 65_536;

    /// <summary>Connections this socket holds at the same time; further ones are closed at once, with an event and a count. 0 (default): no cap.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative.</exception>
    public int MaxConnections { get; set => field = NotNegative(value); }

    /// <summary>Allow IPv6 in names, literals and wildcards; bind then listens on both families. Default false.</summary>
    public bool IPv6 { get; set; }

    /// <summary>Let several sockets, which must all ask for it, listen on the same address. Default false; the native core always shares.</summary>
    public bool ShareAddress { get; set; }

    /// <summary>SO_SNDBUF in bytes; -1 (default): the system decides.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is below -1.</exception>
    public int SendBufferSize { get; set => field = AtLeastMinusOne(value); } = -1;

    /// <summary>SO_RCVBUF in bytes; -1 (default): the system decides.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is below -1.</exception>
    public int ReceiveBufferSize { get; set => field = AtLeastMinusOne(value); } = -1;

    /// <summary>TCP keep-alive: null (default) leaves it to the system.</summary>
    public bool? KeepAlive { get; set; }

    /// <summary>Unanswered probes until the connection counts as lost; -1 (default): the system's. Used when <see cref="KeepAlive"/> is true, as are the next two.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is below -1.</exception>
    public int KeepAliveCount { get; set => field = AtLeastMinusOne(value); } = -1;

    /// <summary>Seconds of silence before the first probe; -1 (default): the system's.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is below -1.</exception>
    public int KeepAliveIdleSeconds { get; set => field = AtLeastMinusOne(value); } = -1;

    /// <summary>Seconds between probes; -1 (default): the system's.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is below -1.</exception>
    public int KeepAliveIntervalSeconds { get; set => field = AtLeastMinusOne(value); } = -1;

    /// <summary>How long Send without a timeout of its own waits for room. Default: as long as it takes.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative and not infinite.</exception>
    public TimeSpan SendTimeout { get; set => field = CheckTime(value, mayBeInfinite: true); } = Timeout.InfiniteTimeSpan;

    /// <summary>How long Receive without a timeout of its own waits for a message. Default: as long as it takes.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative and not infinite.</exception>
    public TimeSpan ReceiveTimeout { get; set => field = CheckTime(value, mayBeInfinite: true); } = Timeout.InfiniteTimeSpan;

    /// <summary>How long a peer that this side ends may go on taking what Send accepted. Default: as long as it takes, but at most the context's shutdown timeout.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative and not infinite.</exception>
    public TimeSpan Linger { get; set => field = CheckTime(value, mayBeInfinite: true); } = Timeout.InfiniteTimeSpan;

    /// <summary>
    /// How long to wait for the peer's end of the connection after ours, and for a peer that ended first to take what Send had accepted. Default 5 seconds:
    /// a live peer answers within a round trip; a dead one holds a descriptor no longer than this.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative or infinite.</exception>
    public TimeSpan CloseTimeout { get; set => field = CheckTime(value, mayBeInfinite: false); } = TimeSpan.FromSeconds(5);

    /// <summary>Ends a peer that sent nothing for so long. Zero (default): never, as in the native core. A peer that we do not read is not counted as silent.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative or infinite.</exception>
    public TimeSpan IdleTimeout { get; set => field = CheckTime(value, mayBeInfinite: false); }

    /// <summary>Ends a peer that took nothing for so long while something waited to be written to it. Zero (default): never.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative or infinite.</exception>
    public TimeSpan WriteTimeout { get; set => field = CheckTime(value, mayBeInfinite: false); }

    /// <summary>How long one attempt to connect may take, all addresses of a name together. Zero (default): the system's own limit, minutes as a rule.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative or infinite.</exception>
    public TimeSpan ConnectTimeout { get; set => field = CheckTime(value, mayBeInfinite: false); }

    internal static TimeSpan CheckTime(TimeSpan value, bool mayBeInfinite)
    {
        if (!mayBeInfinite || value != Timeout.InfiniteTimeSpan)
        {
            ArgumentOutOfRangeException.ThrowIfLessThan(value, TimeSpan.Zero);
        }

        return value;
    }

    internal StreamSettings Snapshot() => new(
        new ConnectionSettings
        {
            MessageLimit = StreamFraming.EffectiveLimit(MaxMessageSize),
            Outbound = new QueueLimits(SendHighWaterMark, SendByteLimit),
            IdleTimeout = IdleTimeout,
            WriteTimeout = WriteTimeout,
            Linger = Linger,
            CloseTimeout = CloseTimeout,
        },
        new TcpSettings
        {
            SendBufferSize = SendBufferSize,
            ReceiveBufferSize = ReceiveBufferSize,
            Backlog = Backlog,
            IPv6 = IPv6,
            ShareAddress = ShareAddress,
            KeepAlive = KeepAlive switch { null => -1, false => 0, true => 1 },
            KeepAliveCount = KeepAliveCount,
            KeepAliveIdleSeconds = KeepAliveIdleSeconds,
            KeepAliveIntervalSeconds = KeepAliveIntervalSeconds,
            ConnectTimeout = ConnectTimeout,
        },
        new QueueLimits(ReceiveHighWaterMark, ReceiveByteLimit),
        MaxConnections);

    private static int NotNegative(int value)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(value);
        return value;
    }

    private static long NotNegative(long value)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(value);
        return value;
    }

    private static int AtLeastMinusOne(int value)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(value, -1);
        return value;
    }
}
