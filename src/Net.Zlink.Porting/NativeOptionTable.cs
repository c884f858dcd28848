using System.Text;

namespace Net.Zlink.Porting;

/// <summary>A number with different meanings on different types has several rows; the first that fits applies.</summary>
internal static class NativeOptionTable
{
    private const long Any = long.MinValue;
    private const int PollIn = 1;
    private const int PollOut = 2;
    private const int MaxSeconds = int.MaxValue / 1000;

    public static IReadOnlyList<NativeOption> Rows { get; } =
    [
        Long<ZmpSocketOptions>(4, "AFFINITY", "ShardAffinity", static o => (long)o.ShardAffinity,
            static (o, v) => o.ShardAffinity = (ulong)v),
        Bytes<ZmpSocketOptions>(5, "ROUTING_ID", "RoutingId", static o => o.RoutingId, static (o, v) => o.RoutingId = v.ToArray())
            with { IsGeneral = true },
        OnSocket(6, "SUBSCRIBE", "Subscribe", Subscribe),
        OnSocket(7, "UNSUBSCRIBE", "Unsubscribe", Unsubscribe),
        Gap(8, "RATE", "there is no pgm transport, here or in the usual native build"),
        Gap(9, "RECOVERY_IVL", "there is no pgm transport, here or in the usual native build"),
        General<SocketOptions>(11, "SNDBUF", "SendBufferSize", static o => o.SendBufferSize ?? -1,
            static (o, v) => o.SendBufferSize = v < 0 ? null : (int)v, least: -1),
        General<SocketOptions>(12, "RCVBUF", "ReceiveBufferSize", static o => o.ReceiveBufferSize ?? -1,
            static (o, v) => o.ReceiveBufferSize = v < 0 ? null : (int)v, least: -1),
        Gap(13, "RCVMORE", "a message is received whole: Message.PartCount says how many parts it has"),
        Gap(14, "FD", "readiness is awaited here: ReceiveAsync, SendAsync"),
        ReadOnly(15, "EVENTS", "CanReceive, CanSend", static _ => true, EventsOf),
        ReadOnly(16, "TYPE", "the socket's class", static _ => true, TypeOf)
            with { MayBeLonger = false },
        General<SocketOptions>(17, "LINGER", "Linger", static o => Ms(o.Linger ?? Timeout.InfiniteTimeSpan),
            static (o, v) => o.Linger = Time(v), least: -1),
        General<ZmpSocketOptions>(18, "RECONNECT_IVL", "ReconnectInterval", static o => Ms(o.ReconnectInterval),
            static (o, v) => o.ReconnectInterval = Time(Math.Max(v, 0)), least: -1),
        General<SocketOptions>(19, "BACKLOG", "Backlog", static o => o.Backlog, static (o, v) => o.Backlog = (int)v),
        General<ZmpSocketOptions>(21, "RECONNECT_IVL_MAX", "ReconnectIntervalMax", static o => Ms(o.ReconnectIntervalMax),
            static (o, v) => o.ReconnectIntervalMax = Time(v)),
        Long<ZmpSocketOptions>(22, "MAXMSGSIZE", "MaxMessageSize", static o => o.MaxMessageSize ?? -1,
            static (o, v) => o.MaxMessageSize = v < 0 ? null : v),
        Long<StreamOptions>(22, "MAXMSGSIZE", "MaxMessageSize", static o => o.MaxMessageSize ?? -1,
            static (o, v) => o.MaxMessageSize = v < 0 ? new StreamOptions().MaxMessageSize : v),
        General<SocketOptions>(23, "SNDHWM", "SendHighWaterMark", static o => o.SendHighWaterMark ?? 0,
            static (o, v) => o.SendHighWaterMark = v == 0 ? null : (int)v),
        General<SocketOptions>(24, "RCVHWM", "ReceiveHighWaterMark", static o => o.ReceiveHighWaterMark ?? 0,
            static (o, v) => o.ReceiveHighWaterMark = v == 0 ? null : (int)v),
        Gap(25, "MULTICAST_HOPS", "there is no pgm transport, here or in the usual native build"),
        General<SocketOptions>(27, "RCVTIMEO", "ReceiveTimeout", static o => Ms(o.ReceiveTimeout),
            static (o, v) => o.ReceiveTimeout = Time(v), least: -1),
        General<SocketOptions>(28, "SNDTIMEO", "SendTimeout", static o => Ms(o.SendTimeout), static (o, v) => o.SendTimeout = Time(v),
            least: -1),
        new(32, "LAST_ENDPOINT", "LastEndpoint", NativeKind.Text) { Fits = static _ => true,
            GetBytes = static s => Encoding.UTF8.GetBytes(s.LastEndpoint) },
        Flag<RouterOptions>(33, "ROUTER_MANDATORY", "Mandatory", static (o, v) => o.Mandatory = v),
        General<SocketOptions>(34, "TCP_KEEPALIVE", "KeepAlive", static o => o.KeepAlive switch { null => -1, false => 0, true => 1 },
            static (o, v) => o.KeepAlive = v < 0 ? null : v > 0, least: -1, most: 1),
        General<SocketOptions>(35, "TCP_KEEPALIVE_CNT", "KeepAliveCount", static o => o.KeepAliveCount ?? -1,
            static (o, v) => o.KeepAliveCount = v < 1 ? null : (int)v, least: -1),
        General<SocketOptions>(36, "TCP_KEEPALIVE_IDLE", "KeepAliveIdle", static o => Seconds(o.KeepAliveIdle),
            static (o, v) => o.KeepAliveIdle = v < 1 ? null : TimeSpan.FromSeconds(Math.Min(v, MaxSeconds)), least: -1),
        General<SocketOptions>(37, "TCP_KEEPALIVE_INTVL", "KeepAliveInterval", static o => Seconds(o.KeepAliveInterval),
            static (o, v) => o.KeepAliveInterval = v < 1 ? null : TimeSpan.FromSeconds(Math.Min(v, MaxSeconds)), least: -1),
        Switch<ZmpSocketOptions>(39, "IMMEDIATE", "Immediate", static o => o.Immediate, static (o, v) => o.Immediate = v),
        Flag<XPubOptions>(40, "XPUB_VERBOSE", "Notices", static (o, v) => o.Notices = v ? SubscriptionNotices.AllSubscriptions
            : SubscriptionNotices.FirstAndLast),
        Switch<SocketOptions>(42, "IPV6", "IPv6", static o => o.IPv6 ?? false, static (o, v) => o.IPv6 = v),
        Flag<RouterOptions>(51, "PROBE_ROUTER", "ProbeRouter", static (o, v) => o.ProbeRouter = v),
        Flag<DealerOptions>(51, "PROBE_ROUTER", "ProbeRouter", static (o, v) => o.ProbeRouter = v),
        Switch<DealerOptions>(54, "CONFLATE", "Conflate", static o => o.Conflate, static (o, v) => o.Conflate = v),
        Switch<PubOptions>(54, "CONFLATE", "Conflate", static o => o.Conflate, static (o, v) => o.Conflate = v),
        Switch<SubOptions>(54, "CONFLATE", "Conflate", static o => o.Conflate, static (o, v) => o.Conflate = v),
        Flag<RouterOptions>(56, "ROUTER_HANDOVER", "OnDuplicateRoutingId", static (o, v) => o.OnDuplicateRoutingId = v
            ? DuplicateRoutingId.Replace : DuplicateRoutingId.Refuse),
        General<SocketOptions>(57, "TOS", "TypeOfService", static o => o.TypeOfService, static (o, v) => o.TypeOfService = (int)v,
            most: 255),
        Gap(61, "CONNECT_ROUTING_ID", "a ROUTER names its peer when it connects: RouterSocket.Connect(endpoint, peerRoutingId)")
            with { Fits = static s => s is RouterSocket or StreamSocket },
        General<SocketOptions>(66, "HANDSHAKE_IVL", "HandshakeInterval", static o => Ms(o.HandshakeInterval),
            static (o, v) => o.HandshakeInterval = Time(v)),
        Flag<PubOptions>(69, "XPUB_NODROP", "NoDrop", static (o, v) => o.NoDrop = v),
        Flag<XPubOptions>(69, "XPUB_NODROP", "NoDrop", static (o, v) => o.NoDrop = v),
        Flag<XPubOptions>(71, "XPUB_MANUAL", "Manual", static (o, v) => (o.Manual, o.ManualLastValue) = (v, v && o.ManualLastValue)),
        Bytes<PubOptions>(72, "XPUB_WELCOME_MSG", "WelcomeMessage", null, static (o, v) => o.WelcomeMessage = v.ToArray()),
        Bytes<XPubOptions>(72, "XPUB_WELCOME_MSG", "WelcomeMessage", null, static (o, v) => o.WelcomeMessage = v.ToArray()),
        Inverts<PubOptions>(static o => o.InvertMatching, static (o, v) => o.InvertMatching = v),
        Inverts<XPubOptions>(static o => o.InvertMatching, static (o, v) => o.InvertMatching = v),
        Inverts<SubOptions>(static o => o.InvertMatching, static (o, v) => o.InvertMatching = v),
        General<ZmpSocketOptions>(75, "HEARTBEAT_IVL", "HeartbeatInterval", static o => Ms(o.HeartbeatInterval),
            static (o, v) => o.HeartbeatInterval = Time(v)),
        General<ZmpSocketOptions>(76, "HEARTBEAT_TTL", "HeartbeatTtl", static o => Ms(o.HeartbeatTtl),
            static (o, v) => o.HeartbeatTtl = Time(Math.Max(v, 0)), least: -99, most: 6_553_599),
        General<ZmpSocketOptions>(77, "HEARTBEAT_TIMEOUT", "HeartbeatTimeout", static o => o.HeartbeatTimeout is { } time ? Ms(time) : -1,
            static (o, v) => o.HeartbeatTimeout = Time(v)),
        Flag<XPubOptions>(78, "XPUB_VERBOSER", "Notices", static (o, v) => o.Notices = v ? SubscriptionNotices.All
            : SubscriptionNotices.FirstAndLast),
        General<SocketOptions>(79, "CONNECT_TIMEOUT", "ConnectTimeout", static o => Ms(o.ConnectTimeout),
            static (o, v) => o.ConnectTimeout = Time(v)),
        General<SocketOptions>(80, "TCP_MAXRT", "MaxUnacknowledged", static o => Ms(o.MaxUnacknowledged),
            static (o, v) => o.MaxUnacknowledged = Time(v)),
        Gap(84, "MULTICAST_MAXTPDU", "there is no pgm transport, here or in the usual native build"),
        Gap(89, "USE_FD", "a listener opens its own socket: a descriptor's number says nothing about who owns it"),
        Gap(90, "REQUEST_TIMEOUT", "the native core stores it and does nothing with it: use ReceiveTimeout, or a CancellationToken"),
        Gap(91, "REQUEST_CORRELATE", "the native core stores it and does nothing with it"),
        new(92, "BINDTODEVICE", "BindToDevice", NativeKind.Text)
        {
            Fits = static _ => true,
            GetBytes = static s => Encoding.UTF8.GetBytes(s.Options.BindToDevice),
            SetBytes = static (s, v) => s.Options.BindToDevice = Encoding.UTF8.GetString(v),
        },
        TlsText(95, "TLS_CERT", "Tls.CertificateFile", static o => o.CertificateFile, static (o, v) => o.CertificateFile = v),
        TlsText(96, "TLS_KEY", "Tls.KeyFile", static o => o.KeyFile, static (o, v) => o.KeyFile = v),
        TlsText(97, "TLS_CA", "Tls.CaFile", static o => o.CaFile, static (o, v) => o.CaFile = v),
        Flag<XPubOptions>(98, "XPUB_MANUAL_LAST_VALUE", "ManualLastValue", static (o, v) => (o.Manual, o.ManualLastValue) = (v, v)),
        Switch<SocketOptions>(98, "TLS_VERIFY", "Tls.VerifyPeer", static o => o.Tls.VerifyPeer, static (o, v) => o.Tls.VerifyPeer = v),
        Switch<SocketOptions>(99, "TLS_REQUIRE_CLIENT_CERT", "Tls.RequireClientCertificate", static o => o.Tls.RequireClientCertificate,
            static (o, v) => o.Tls.RequireClientCertificate = v),
        TlsText(100, "TLS_HOSTNAME", "Tls.HostName", static o => o.HostName, static (o, v) => o.HostName = v),
        Switch<SocketOptions>(101, "TLS_TRUST_SYSTEM", "Tls.TrustSystem", static o => o.Tls.TrustSystem,
            static (o, v) => o.Tls.TrustSystem = v),
        TlsText(102, "TLS_PASSWORD", "Tls.KeyPassword", static o => o.KeyPassword, static (o, v) => o.KeyPassword = v),
        Flag<XPubOptions>(108, "ONLY_FIRST_SUBSCRIBE", "OnlyFirstSubscribe", static (o, v) => o.OnlyFirstSubscribe = v),
        ReadOnly(116, "TOPICS_COUNT", "TopicCount", static s => s is PubSocket or XPubSocket or SubSocket or XSubSocket, TopicsOf),
        Switch<ZmpSocketOptions>(117, "ZMP_METADATA", "SendMetadata", static o => o.SendMetadata, static (o, v) => o.SendMetadata = v),
    ];

    // The native core's limit for these texts.
    private const int LongestTlsText = 256;

    /// <summary>The row of a number that fits the socket, or else another one of that number.</summary>
    public static NativeOption? Find(int number, ZlinkSocket socket) =>
        Rows.FirstOrDefault(row => row.Number == number && row.Fits(socket)) ?? Rows.FirstOrDefault(row => row.Number == number);

    private static NativeOption General<TOptions>(
        int number, string name, string property, Func<TOptions, long> get, Action<TOptions, long> set, long least = 0,
            long most = int.MaxValue)
        where TOptions : SocketOptions => new(number, name, property, NativeKind.Int32)
        {
            Fits = static s => s.Options is TOptions,
            GetNumber = s => get((TOptions)s.Options),
            SetNumber = (s, v) => set((TOptions)s.Options, v),
            MinValue = least,
            MaxValue = most,
            IsGeneral = true,
        };

    private static NativeOption Long<TOptions>(
        int number, string name, string property, Func<TOptions, long> get, Action<TOptions, long> set)
        where TOptions : SocketOptions => General(number, name, property, get, set, Any, long.MaxValue) with { Kind = NativeKind.Int64 };

    private static NativeOption Switch<TOptions>(
        int number, string name, string property, Func<TOptions, bool> get, Action<TOptions, bool> set)
        where TOptions : SocketOptions => General<TOptions>(number, name, property, o => get(o) ? 1 : 0, (o, v) => set(o, v != 0), most: 1);

    private static NativeOption Flag<TOptions>(int number, string name, string property, Action<TOptions, bool> set)
        where TOptions : SocketOptions => new(number, name, property, NativeKind.Int32)
        {
            Fits = static s => s.Options is TOptions,
            SetNumber = (s, v) => set((TOptions)s.Options, v != 0),
        };

    private static NativeOption Inverts<TOptions>(Func<TOptions, bool> get, Action<TOptions, bool> set)
        where TOptions : SocketOptions =>
        General<TOptions>(74, "INVERT_MATCHING", "InvertMatching", o => get(o) ? 1 : 0, (o, v) => set(o, v != 0), int.MinValue);

    private static NativeOption Bytes<TOptions>(
        int number, string name, string property, Func<TOptions, ReadOnlyMemory<byte>>? get, NativeBytesSetter<TOptions> set)
        where TOptions : SocketOptions => new(number, name, property, NativeKind.Bytes)
        {
            Fits = static s => s.Options is TOptions,
            GetBytes = get is null ? null : s => get((TOptions)s.Options),
            SetBytes = (s, v) => set((TOptions)s.Options, v),
        };

    private static NativeOption TlsText(int number, string name, string property, Func<TlsOptions, string> get, Action<TlsOptions,
        string> set) => new(number, name, property, NativeKind.Text)
        {
            Fits = static _ => true,
            GetBytes = s => Encoding.UTF8.GetBytes(get(s.Options.Tls)),
            SetBytes = (s, v) => set(s.Options.Tls, v.Length <= LongestTlsText ? Encoding.UTF8.GetString(v)
                : throw new ArgumentException($"takes at most {LongestTlsText} bytes, not {v.Length}", nameof(v))),
        };

    private static NativeOption OnSocket(int number, string name, string property, NativeBytesSetter set) =>
        new(number, name, property, NativeKind.Bytes) { Fits = static s => s is SubSocket or XPubSocket, SetBytes = set };

    private static NativeOption ReadOnly(int number, string name, string property, Func<ZlinkSocket, bool> fits, Func<ZlinkSocket,
        long> get) =>
        new(number, name, property, NativeKind.Int32) { Fits = fits, GetNumber = get, MayBeLonger = true };

    private static NativeOption Gap(int number, string name, string why) =>
        new(number, name, "", NativeKind.Bytes) { Fits = static _ => true, Gap = why };

    private static long Ms(TimeSpan time) => time == Timeout.InfiniteTimeSpan ? -1 : (long)Math.Min(time.TotalMilliseconds, int.MaxValue);

    private static long Seconds(TimeSpan? time) => time is { } value ? (long)value.TotalSeconds : -1;

    private static TimeSpan Time(long milliseconds) => milliseconds < 0 ? Timeout.InfiniteTimeSpan
        : TimeSpan.FromMilliseconds(milliseconds);

    private static long TypeOf(ZlinkSocket socket) => socket switch
    {
        PairSocket => 0,
        PubSocket => 1,
        SubSocket => 2,
        DealerSocket => 5,
        RouterSocket => 6,
        XPubSocket => 9,
        XSubSocket => 10,
        _ => 11, // STREAM
    };

    private static long EventsOf(ZlinkSocket socket)
    {
        bool canReceive = socket is not PubSocket && socket.CanReceive;
        bool canSend = socket is not SubSocket && socket.CanSend;
        return (canReceive ? PollIn : 0) | (canSend ? PollOut : 0);
    }

    private static long TopicsOf(ZlinkSocket socket) => socket switch
    {
        PubSocket pub => pub.TopicCount,
        XPubSocket xpub => xpub.TopicCount,
        SubSocket sub => sub.TopicCount,
        _ => ((XSubSocket)socket).TopicCount,
    };

    private static void Subscribe(ZlinkSocket socket, ReadOnlySpan<byte> topic)
    {
        if (socket is SubSocket sub)
        {
            sub.Subscribe(topic);
        }
        else
        {
            ((XPubSocket)socket).Subscribe(topic);
        }
    }

    private static void Unsubscribe(ZlinkSocket socket, ReadOnlySpan<byte> topic)
    {
        if (socket is SubSocket sub)
        {
            sub.Unsubscribe(topic);
        }
        else
        {
            ((XPubSocket)socket).Unsubscribe(topic);
        }
    }

    private delegate void NativeBytesSetter<TOptions>(TOptions options, ReadOnlySpan<byte> value);
}
