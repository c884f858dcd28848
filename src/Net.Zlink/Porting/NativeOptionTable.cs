using System.Text;
using Net.Zlink.Protocol.Stream;

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
        OnSocket(6, "SUBSCRIBE", "Subscribe", static (t, v) => ChangeSubscription(t, v, subscribes: true)),
        OnSocket(7, "UNSUBSCRIBE", "Unsubscribe", static (t, v) => ChangeSubscription(t, v, subscribes: false)),
        Gap(8, "RATE", "there is no pgm transport, here or in the usual native build"),
        Gap(9, "RECOVERY_IVL", "there is no pgm transport, here or in the usual native build"),
        General<SocketOptions>(11, "SNDBUF", "SendBufferSize", static o => o.SendBufferSize ?? -1,
            static (o, v) => o.SendBufferSize = v < 0 ? null : (int)v, least: -1),
        General<SocketOptions>(12, "RCVBUF", "ReceiveBufferSize", static o => o.ReceiveBufferSize ?? -1,
            static (o, v) => o.ReceiveBufferSize = v < 0 ? null : (int)v, least: -1),
        Gap(13, "RCVMORE", "a message is received whole: Message.PartCount says how many parts it has"),
        Gap(14, "FD", "readiness is awaited here: ReceiveAsync, SendAsync"),
        ReadOnly(15, "EVENTS", "CanReceive, CanSend", static _ => true, static t => EventsOf(t)),
        ReadOnly(16, "TYPE", "the socket's class", static _ => true, static t => t.Socket is null ? StreamType : (int)t.Socket.Core.Type)
            with { MayBeLonger = false },
        General<SocketOptions>(17, "LINGER", "Linger", static o => Ms(o.LingerTime), static (o, v) => o.Linger = Time(v), least: -1),
        General<ZmpSocketOptions>(18, "RECONNECT_IVL", "ReconnectInterval", static o => Ms(o.ReconnectInterval),
            static (o, v) => o.ReconnectInterval = Time(Math.Max(v, 0)), least: -1),
        General<SocketOptions>(19, "BACKLOG", "Backlog", static o => o.Backlog, static (o, v) => o.Backlog = (int)v),
        General<ZmpSocketOptions>(21, "RECONNECT_IVL_MAX", "ReconnectIntervalMax", static o => Ms(o.ReconnectIntervalMax),
            static (o, v) => o.ReconnectIntervalMax = Time(v)),
        Long<ZmpSocketOptions>(22, "MAXMSGSIZE", "MaxMessageSize", static o => o.MaxMessageSize ?? -1,
            static (o, v) => o.MaxMessageSize = v < 0 ? null : v),
        Long<StreamOptions>(22, "MAXMSGSIZE", "MaxMessageSize", static o => o.MaxMessageSize ?? -1,
            static (o, v) => o.MaxMessageSize = v < 0 ? StreamFraming.DefaultMaxMessageSize : v),
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
            GetBytes = static t => Encoding.UTF8.GetBytes(t.Socket?.LastEndpoint ?? t.Stream!.LastEndpoint) },
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
        Flag<XPubOptions>(40, "XPUB_VERBOSE", "Verbose", static (o, v) => (o.Verbose, o.Verboser) = (v, false)),
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
        new(61, "CONNECT_ROUTING_ID", "Connect(endpoint, peerRoutingId)", NativeKind.Bytes) { Fits = static t => t.Socket is RouterSocket,
            SetBytes = static (t, v) => NamePeer(t, v) },
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
        Flag<XPubOptions>(78, "XPUB_VERBOSER", "Verboser", static (o, v) => (o.Verbose, o.Verboser) = (v, v)),
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
            GetBytes = static t => Encoding.UTF8.GetBytes(t.Options.BindToDevice),
            SetBytes = static (t, v) => t.Options.BindToDevice = Encoding.UTF8.GetString(v),
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
        Flag<XSubOptions>(108, "ONLY_FIRST_SUBSCRIBE", "OnlyFirstSubscribe", static (o, v) => o.OnlyFirstSubscribe = v),
        ReadOnly(116, "TOPICS_COUNT", "TopicCount", static t => t.Socket is PubSocket or XPubSocket or SubSocket or XSubSocket,
            static t => TopicsOf(t.Socket!)),
        Switch<ZmpSocketOptions>(117, "ZMP_METADATA", "SendMetadata", static o => o.SendMetadata, static (o, v) => o.SendMetadata = v),
    ];

    private const int StreamType = 11;

    // The native core's limit for these texts.
    private const int LongestTlsText = 256;

    public static NativeOption? Find(int number, NativeTarget target, out NativeOption? elsewhere)
    {
        elsewhere = null;
        foreach (NativeOption row in Rows)
        {
            if (row.Number == number)
            {
                if (row.Fits(target))
                {
                    return row;
                }

                elsewhere = row;
            }
        }

        return null;
    }

    private static NativeOption General<TOptions>(
        int number, string name, string property, Func<TOptions, long> get, Action<TOptions, long> set, long least = 0,
            long most = int.MaxValue)
        where TOptions : SocketOptions => new(number, name, property, NativeKind.Int32)
        {
            Fits = static t => t.Options is TOptions,
            GetNumber = t => get((TOptions)t.Options),
            SetNumber = (t, v) => set((TOptions)t.Options, v),
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
            Fits = static t => t.Options is TOptions,
            SetNumber = (t, v) => set((TOptions)t.Options, v != 0),
        };

    private static NativeOption Inverts<TOptions>(Func<TOptions, bool> get, Action<TOptions, bool> set)
        where TOptions : SocketOptions =>
        General<TOptions>(74, "INVERT_MATCHING", "InvertMatching", o => get(o) ? 1 : 0, (o, v) => set(o, v != 0), int.MinValue);

    private static NativeOption Bytes<TOptions>(
        int number, string name, string property, Func<TOptions, ReadOnlyMemory<byte>>? get, NativeBytesSetter<TOptions> set)
        where TOptions : SocketOptions => new(number, name, property, NativeKind.Bytes)
        {
            Fits = static t => t.Options is TOptions,
            GetBytes = get is null ? null : t => get((TOptions)t.Options),
            SetBytes = (t, v) => set((TOptions)t.Options, v),
        };

    private static NativeOption TlsText(int number, string name, string property, Func<TlsOptions, string> get, Action<TlsOptions,
        string> set) => new(number, name, property, NativeKind.Text)
        {
            Fits = static _ => true,
            GetBytes = t => Encoding.UTF8.GetBytes(get(t.Options.Tls)),
            SetBytes = (t, v) => set(t.Options.Tls, v.Length <= LongestTlsText ? Encoding.UTF8.GetString(v)
                : throw new ArgumentException($"takes at most {LongestTlsText} bytes, not {v.Length}", nameof(v))),
        };

    private static NativeOption OnSocket(int number, string name, string property, NativeBytesSetter set) =>
        new(number, name, property, NativeKind.Bytes) { Fits = static t => t.Socket is SubSocket or XPubSocket, SetBytes = set };

    private static NativeOption ReadOnly(int number, string name, string property, Func<NativeTarget, bool> fits, Func<NativeTarget,
        long> get) =>
        new(number, name, property, NativeKind.Int32) { Fits = fits, GetNumber = get, MayBeLonger = true };

    private static NativeOption Gap(int number, string name, string why) =>
        new(number, name, "", NativeKind.Bytes) { Fits = static _ => true, Gap = why };

    private static long Ms(TimeSpan time) => time == Timeout.InfiniteTimeSpan ? -1 : (long)Math.Min(time.TotalMilliseconds, int.MaxValue);

    private static long Seconds(TimeSpan? time) => time is { } value ? (long)value.TotalSeconds : -1;

    private static TimeSpan Time(long milliseconds) => milliseconds < 0 ? Timeout.InfiniteTimeSpan
        : TimeSpan.FromMilliseconds(milliseconds);

    private static int EventsOf(NativeTarget target)
    {
        // PUB cannot receive and SUB cannot send.
        bool canReceive = target.Socket is null ? target.Stream!.Hub.IsReadable : target.Socket is ReceivingSocket
            && target.Socket.CanReceive;
        bool canSend = target.Socket is null || (target.Socket is not SubSocket && target.Socket.CanSend);
        return (canReceive ? PollIn : 0) | (canSend ? PollOut : 0);
    }

    private static int TopicsOf(ZmpSocket socket) => socket switch
    {
        PubSocket pub => pub.TopicCount,
        XPubSocket xpub => xpub.TopicCount,
        SubSocket sub => sub.TopicCount,
        _ => ((XSubSocket)socket).TopicCount,
    };

    private static void ChangeSubscription(NativeTarget target, ReadOnlySpan<byte> topic, bool subscribes)
    {
        if (target.Socket is SubSocket sub)
        {
            if (subscribes)
            {
                sub.Subscribe(topic);
            }
            else
            {
                sub.Unsubscribe(topic);
            }
        }
        else if (subscribes)
        {
            ((XPubSocket)target.Socket!).Subscribe(topic);
        }
        else
        {
            ((XPubSocket)target.Socket!).Unsubscribe(topic);
        }
    }

    private static void NamePeer(NativeTarget target, ReadOnlySpan<byte> name)
    {
        if (name.Length is 0 or > Protocol.Zmp.ZmpHello.LargestRoutingId)
        {
            throw new ArgumentException($"a name has 1 to {Protocol.Zmp.ZmpHello.LargestRoutingId} bytes", nameof(name));
        }

        target.Socket!.NameNextPeer(name.ToArray());
    }

    private delegate void NativeBytesSetter<TOptions>(TOptions options, ReadOnlySpan<byte> value);
}
