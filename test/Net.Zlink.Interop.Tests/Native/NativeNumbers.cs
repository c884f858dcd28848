namespace Net.Zlink.Interop.Tests.Native;

/// <summary>Socket type numbers of the native header.</summary>
public enum NativeSocketType
{
    Pair = 0,
    Pub = 1,
    Sub = 2,
    Dealer = 5,
    Router = 6,
    XPub = 9,
    XSub = 10,
    Stream = 11,
}

/// <summary>Numbers of a context's options.</summary>
internal static class NativeContextOption
{
    public const int IoThreads = 1;
    public const int MaxSockets = 2;
}

/// <summary>Numbers of the socket options that these tests set.</summary>
internal static class NativeOption
{
    public const int RoutingId = 5;
    public const int Subscribe = 6;
    public const int Unsubscribe = 7;
    public const int Events = 15;
    public const int Type = 16;
    public const int Linger = 17;
    public const int ReconnectInterval = 18;
    public const int Backlog = 19;
    public const int ReconnectIntervalMax = 21;
    public const int MaxMessageSize = 22;
    public const int SendHighWaterMark = 23;
    public const int ReceiveHighWaterMark = 24;
    public const int ReceiveTimeout = 27;
    public const int SendTimeout = 28;
    public const int LastEndpoint = 32;
    public const int RouterMandatory = 33;
    public const int KeepAliveCount = 35;
    public const int KeepAliveIdle = 36;
    public const int KeepAliveInterval = 37;
    public const int Immediate = 39;
    public const int XPubVerbose = 40;
    public const int IPv6 = 42;
    public const int ProbeRouter = 51;
    public const int Conflate = 54;
    public const int RouterHandover = 56;
    public const int TypeOfService = 57;
    public const int ConnectRoutingId = 61;
    public const int HandshakeInterval = 66;
    public const int XPubNoDrop = 69;
    public const int XPubManual = 71;
    public const int XPubWelcomeMessage = 72;
    public const int InvertMatching = 74;
    public const int HeartbeatInterval = 75;
    public const int HeartbeatTtl = 76;
    public const int HeartbeatTimeout = 77;
    public const int XPubVerboser = 78;
    public const int BindToDevice = 92;
    public const int XPubManualLastValue = 98;
    public const int OnlyFirstSubscribe = 108;
    public const int TopicsCount = 116;
    public const int ZmpMetadata = 117;
    public const int TlsCert = 95;
    public const int TlsKey = 96;
    public const int TlsCa = 97;

    /// <summary>The same number as <see cref="XPubManualLastValue"/>: which of the two it is depends on the socket's type.</summary>
    public const int TlsVerify = 98;
    public const int TlsRequireClientCert = 99;
    public const int TlsHostName = 100;
    public const int TlsTrustSystem = 101;
    public const int TlsPassword = 102;
}

/// <summary>Monitor events of the native header.</summary>
[Flags]
public enum NativeEventTypes
{
    None = 0,
    Connected = 0x0001,
    ConnectDelayed = 0x0002,
    ConnectRetried = 0x0004,
    Listening = 0x0008,
    BindFailed = 0x0010,
    Accepted = 0x0020,
    AcceptFailed = 0x0040,
    Closed = 0x0080,
    CloseFailed = 0x0100,
    Disconnected = 0x0200,
    MonitorStopped = 0x0400,
    HandshakeFailedNoDetail = 0x0800,
    ConnectionReady = 0x1000,
    HandshakeFailedProtocol = 0x2000,
    HandshakeFailedAuth = 0x4000,
    All = 0x7FFF,
}

/// <summary>What a poll waits for.</summary>
[Flags]
internal enum NativePollEvents : short
{
    None = 0,
    In = 1,
    Out = 2,
}

/// <summary>Error numbers that these tests tell apart: Linux errno, and the library's own above its base 156384712.</summary>
internal static class NativeErrno
{
    public const int NotFound = 2;
    public const int Interrupted = 4;
    public const int Again = 11;
    public const int Invalid = 22;
    public const int NotSupported = 95;
    public const int AddressInUse = 98;
    public const int HostUnreachable = 113;
    public const int ContextTerminated = 156384765;
}
