using System.Diagnostics.CodeAnalysis;
using System.Net;
using System.Net.Sockets;
using System.Security.Cryptography.X509Certificates;
using Net.Zlink.Protocol.WebSocket;

namespace Net.Zlink.Transports;

/// <summary>
/// Reads by readiness: a wait for input holds no buffer of the caller. Apart from <see cref="IWireEvents"/> all members are used on the
/// connection's shard (<see cref="WaitForInput"/> also once before it starts). At most one wait, one read and one write at a time.
/// </summary>
internal abstract class Wire(Transport transport) : IDisposable
{
    /// <summary>
    /// Free bytes before those of <see cref="TryDetachBuffer"/>, for the kept beginning of a frame that they complete: 8 KiB, the most that
    /// is kept outside of a buffer of the frame's own.
    /// </summary>
    public const int Headroom = 8 * 1024;

    /// <summary>A peer that has not read our bytes by then does so without being read, within the close timeout.</summary>
    public const long MaxDiscarded = 16L * 1024 * 1024;

    /// <summary>While we still write, a peer is read again after this time: one that only sends costs 1 % of a processor.</summary>
    public static readonly TimeSpan DiscardPause = TimeSpan.FromSeconds(1);

    public Transport Transport => transport;

    public string Scheme => transport.Scheme;

    /// <summary>Null: the connection was lost before, or the transport has no addresses.</summary>
    public EndPoint? RemoteEndPoint { get; protected init; }

    /// <inheritdoc cref="RemoteEndPoint"/>
    public EndPoint? LocalEndPoint { get; protected init; }

    /// <summary>The native "Peer-Address": the address without its port; over ipc the peer's user, group and process.</summary>
    public virtual string PeerAddress => RemoteEndPoint is IPEndPoint ip
        ? (ip.Address.IsIPv4MappedToIPv6 ? ip.Address.MapToIPv4() : ip.Address).ToString() : "";

    /// <summary>The system's number of the connection, for events and metadata. 0: it has none.</summary>
    public virtual long Handle => 0;

    public SocketError Error { get; protected set; }

    public string? Detail { get; protected set; }

    /// <summary>Transports with a close reason send it.</summary>
    public string? CloseReason { get; set; }

    public int SentBytes { get; protected set; }

    public virtual bool HadHandshake => false;

    /// <summary>
    /// The managed id of the runtime's polling thread of the socket, if its handshake showed one (with inline completions).
    /// </summary>
    public int PollingThread { get; set; }

    public X509Certificate2? RemoteCertificate { get; set; }

    public TlsSession? Tls { get; set; }

    /// <summary>The transport has ended without the end that its protocol asks for: bytes may be missing.</summary>
    public bool IsCutOff { get; protected set; }

    public UpgradeHead? Request { get; set; }

    /// <summary>What the application knows of a peer whose connection it brought.</summary>
    public PeerDetails? Details { get; protected init; }

    public string? SubProtocol { get; set; }

    /// <summary>
    /// One write becomes one message of the transport, and the peer reads it in as many pieces: answers are gathered while there is more to
    /// read.
    /// </summary>
    public virtual bool IsPacked => false;

    /// <summary>False: the peer answers our end with its own end.</summary>
    public virtual bool EndsByHalves => true;

    /// <summary>After how long without a write an empty one is due: a sign of life of the transport's own. Zero: it has none.</summary>
    public virtual TimeSpan PingInterval => TimeSpan.Zero;

    /// <summary>
    /// The transport reads into a buffer of its own: <see cref="Receive"/> copies, <see cref="TryDetachBuffer"/> passes it on.
    /// </summary>
    public virtual bool HasOwnBuffer => false;

    /// <summary>A read may take more from the socket than it returns. A wait for the socket that is pending then may never end.</summary>
    public virtual bool ReadsAhead => false;

    public abstract int Available { get; }

    /// <summary>Bytes wait to be read, or the peer has ended, or the connection has failed. Any thread, also after the end.</summary>
    public abstract bool HasUnread { get; }

    /// <summary>How many bytes the system holds. A transport that reads ahead has more.</summary>
    public abstract int UnreadBytes { get; }

    /// <summary>A write would be accepted, or would fail. Any thread, also after the end.</summary>
    public abstract bool IsWritable { get; }

    protected IWireEvents Events { get; private set; } = null!;

    public virtual void Attach(IWireEvents events) => Events = events;

    /// <inheritdoc cref="AddressFormat"/>
    public string RemoteText(RedactedEndpoint endpoint) => transport.Format(RemoteEndPoint, Scheme, endpoint);

    /// <inheritdoc cref="AddressFormat"/>
    public string LocalText(RedactedEndpoint endpoint) => transport.Format(LocalEndPoint, Scheme, endpoint);

    /// <summary>Our end of an accepted connection: its listener's endpoint if it has no address (ipc, or a lost connection).</summary>
    public string LocalTextOfAccepted(RedactedEndpoint endpoint) => LocalEndPoint is IPEndPoint ? LocalText(endpoint) : endpoint.ToString();

    /// <summary>The reason of an end before the peer's first byte, with what the transport's handshake leaves open.</summary>
    public virtual string WhyRefused(string words) => words;

    /// <summary>
    /// True: <see cref="IWireEvents.OnInput"/> follows. False: it completed synchronously, <see cref="FinishWait"/> says how.
    /// </summary>
    public abstract bool WaitForInput();

    /// <summary><see cref="WireStatus.WouldWait"/>: a false end, another OnInput follows.</summary>
    public abstract WireStatus FinishWait();

    public abstract WireStatus Receive(Span<byte> into, out int received);

    /// <summary>
    /// <see cref="Headroom"/> bytes in front are free. False: there is nothing, or so little that a copy is cheaper.
    /// <paramref name="array"/>: an array of the wire's pool, owned by the caller from here on.
    /// </summary>
    public virtual bool TryDetachBuffer([NotNullWhen(true)] out byte[]? array, out int start, out int length)
    {
        (array, start, length) = (null, 0, 0);
        return false;
    }

    /// <summary>A transport that must encode first always returns <see cref="WireStatus.WouldWait"/>.</summary>
    public abstract WireStatus Send(ReadOnlySpan<byte> bytes, out int sent);

    public virtual bool Gathers => false;

    public virtual WireStatus Send(IList<ArraySegment<byte>> pieces, out int sent) => throw new NotSupportedException(Scheme);

    /// <summary>
    /// The bytes must not change until the end. True: <see cref="IWireEvents.OnSent"/> follows. False: it completed synchronously.
    /// <paramref name="endsMidFrame"/>: the last frame continues in the next write. A transport with messages keeps the frame in one.
    /// </summary>
    public abstract bool BeginSend(ReadOnlyMemory<byte> bytes, bool endsMidFrame);

    public abstract WireStatus FinishSend();

    /// <summary>Done; WouldWait: <see cref="IWireEvents.OnEnded"/> follows; Failed: the peer cannot be reached.</summary>
    public abstract WireStatus EndSending(WireEnd end);

    /// <summary>Releases everything at once, whatever is pending: a reset, unless our side has ended.</summary>
    public abstract void Dispose();

    /// <summary>
    /// Before <see cref="Dispose"/>: .NET resets a connection that is disposed with a pending operation, unless it was shut down.
    /// </summary>
    public abstract void AvoidReset();
}

/// <summary>Gets a wire's completions on any thread, also on the one that began the operation: it must only post.</summary>
internal interface IWireEvents
{
    void OnInput();

    void OnSent();

    void OnEnded();
}

internal enum WireStatus
{
    Done,

    WouldWait,

    Ended,

    /// <summary>The peer violated the transport's protocol: nothing can be sent any more, and further input is meaningless.</summary>
    Refused,

    Failed,
}

internal enum WireEnd
{
    Plain,

    Finished,

    GoingAway,
}
