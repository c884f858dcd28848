using System.Diagnostics.CodeAnalysis;
using System.Net;
using System.Net.Sockets;
using System.Security.Cryptography.X509Certificates;
using Net.Zlink.Protocol.WebSocket;

namespace Net.Zlink.Transports;

/// <summary>A connected peer as bytes, over any transport: what transports give to the engine.</summary>
/// <remarks>
/// Reads by readiness: a wait for input holds no buffer of the caller. Apart from <see cref="IWireEvents"/> all members are used on the
/// connection's shard (<see cref="WaitForInput"/> also once before it starts). At most one wait, one read and one write at a time.
/// </remarks>
/// <param name="socket">The connected socket; owned.</param>
/// <param name="scheme">The transport's scheme, for texts.</param>
internal abstract class Wire(Socket socket, string scheme) : IDisposable
{
    /// <summary>
    /// Free bytes before those of <see cref="TryDetachBuffer"/>, for the kept beginning of a frame that they complete: 8 KiB, the most that
    /// is kept outside of a buffer of the frame's own.
    /// </summary>
    public const int Headroom = 8 * 1024;

    /// <summary>
    /// How many bytes of a peer are discarded after our end. A peer that has not read our bytes by then does so without being read, within
    /// the close timeout.
    /// </summary>
    public const long MaxDiscarded = 16L * 1024 * 1024;

    /// <summary>
    /// While we still write, the peer is read again after this time. A peer that only sends costs 1 % of a processor, and one that reads
    /// only after its own sending completes.
    /// </summary>
    public static readonly TimeSpan DiscardPause = TimeSpan.FromSeconds(1);

    public Socket Socket => socket;

    public string Scheme => scheme;

    /// <summary>The error of the last <see cref="WireStatus.Failed"/> operation.</summary>
    public SocketError Error { get; protected set; }

    /// <summary>More about the error, or null.</summary>
    public string? Detail { get; protected set; }

    /// <summary>
    /// Why our side ends, for a peer that violated the protocol above. Transports with a close reason send it. Set before
    /// <see cref="EndSending"/>.
    /// </summary>
    public string? Complaint { get; set; }

    public int SentBytes { get; protected set; }

    /// <summary>The transport had its own handshake, before which the connection was announced.</summary>
    public virtual bool HadHandshake => false;

    /// <summary>
    /// The managed id of the runtime's polling thread of the socket, if its handshake showed one (with inline completions). Otherwise 0.
    /// </summary>
    public int PollingThread { get; set; }

    /// <summary>The peer's certificate, or null.</summary>
    public X509Certificate2? RemoteCertificate { get; set; }

    /// <summary>The peer's upgrade request, or null.</summary>
    public UpgradeHead? Request { get; set; }

    /// <summary>
    /// One write becomes one message of the transport, and the peer reads it in as many pieces: answers are gathered while there is more to
    /// read.
    /// </summary>
    public virtual bool IsPacked => false;

    /// <summary>Our side can end alone while the peer goes on sending. False: the peer answers our end with its own.</summary>
    public virtual bool EndsByHalves => true;

    /// <summary>
    /// The transport reads into a buffer of its own: <see cref="Receive"/> copies, <see cref="TryDetachBuffer"/> passes it on.
    /// </summary>
    public virtual bool HasOwnBuffer => false;

    /// <summary>Bytes that can be read without a wait, as far as that is known.</summary>
    public abstract int Available { get; }

    protected IWireEvents Events { get; private set; } = null!;

    /// <summary>Sets the receiver of completions. Once, before the first wait.</summary>
    public virtual void Attach(IWireEvents events) => Events = events;

    /// <summary>An address of this connection in events and statistics.</summary>
    public string Format(EndPoint? address, string endpoint) => Endpoints.Format(address, scheme, endpoint);

    /// <summary>Our end of an accepted connection: see <see cref="Endpoints.FormatLocal"/>.</summary>
    public string FormatLocal(EndPoint? address, string endpoint) => Endpoints.FormatLocal(address, scheme, endpoint);

    /// <summary>The reason of an end before the peer's first byte, with what the transport's handshake leaves open.</summary>
    public virtual string WhyRefused(string words) => words;

    /// <summary>
    /// Begins to wait for input. True: <see cref="IWireEvents.OnInput"/> follows. False: it completed synchronously,
    /// <see cref="FinishWait"/> says how.
    /// </summary>
    public abstract bool WaitForInput();

    /// <summary>Takes the end of a wait, once for each. <see cref="WireStatus.WouldWait"/>: a false end, another OnInput follows.</summary>
    public abstract WireStatus FinishWait();

    public abstract WireStatus Receive(Span<byte> into, out int received);

    /// <summary>
    /// Passes on the array that the transport read into, with everything <see cref="Available"/>, which saves <see cref="Receive"/>'s copy.
    /// <see cref="Headroom"/> bytes in front are free. False: there is nothing, or so little that a copy is cheaper.
    /// </summary>
    /// <param name="array">An array of the wire's pool, owned by the caller from here on.</param>
    /// <param name="start">The offset of the bytes.</param>
    /// <param name="length">Their number.</param>
    public virtual bool TryDetachBuffer([NotNullWhen(true)] out byte[]? array, out int start, out int length)
    {
        (array, start, length) = (null, 0, 0);
        return false;
    }

    /// <summary>
    /// Writes what fits, without waiting. A transport that must encode first always returns <see cref="WireStatus.WouldWait"/>.
    /// </summary>
    public abstract WireStatus Send(ReadOnlySpan<byte> bytes, out int sent);

    /// <summary>Several pieces can be written at once (<see cref="Send(IList{ArraySegment{byte}}, out int)"/>).</summary>
    public virtual bool Gathers => false;

    /// <summary>Writes what fits of several pieces, without waiting. Only if the transport <see cref="Gathers"/>.</summary>
    public virtual WireStatus Send(IList<ArraySegment<byte>> pieces, out int sent) => throw new NotSupportedException(scheme);

    /// <summary>
    /// Writes with waiting; the bytes must not change until then. True: <see cref="IWireEvents.OnSent"/> follows. False: it completed
    /// synchronously. In both cases <see cref="FinishSend"/> says how.
    /// </summary>
    /// <param name="bytes">The bytes.</param>
    /// <param name="endsMidFrame">The last frame continues in the next write. A transport with messages keeps the frame in one.</param>
    public abstract bool BeginSend(ReadOnlyMemory<byte> bytes, bool endsMidFrame);

    /// <summary>Takes the end of a write, once for each: Done with <see cref="SentBytes"/>, or Failed.</summary>
    public abstract WireStatus FinishSend();

    /// <summary>
    /// Ends our side; nothing is written after it. Done; WouldWait: <see cref="IWireEvents.OnEnded"/> follows; Failed: the peer cannot be
    /// reached.
    /// </summary>
    public abstract WireStatus EndSending(WireEnd end);

    /// <summary>Releases everything at once, whatever is pending: a reset, unless our side has ended.</summary>
    public abstract void Dispose();

    /// <summary>
    /// Before <see cref="Dispose"/>: the system then still delivers accepted bytes, followed by our end. .NET resets a connection that is
    /// disposed with a pending operation, unless it was shut down.
    /// </summary>
    public void AvoidReset()
    {
        try
        {
            Socket.Shutdown(SocketShutdown.Send);
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            // Closed already.
        }
    }
}
