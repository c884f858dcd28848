using System.Diagnostics.CodeAnalysis;
using System.Net;
using System.Net.Sockets;
using System.Security.Cryptography.X509Certificates;
using Net.Zlink.Protocol.WebSocket;

namespace Net.Zlink.Transports;

/// <summary>A connected peer as bytes, whatever carries them: what every transport hands to the engine.</summary>
/// <remarks>
/// Readiness in, writes out, and nothing in between: a wait for input holds no buffer of the caller's. Apart from the callbacks of
/// <see cref="IWireEvents"/> all members belong to the connection's shard (<see cref="WaitForInput"/> once earlier, before it starts). At
/// most one wait, one read and one write at a time.
/// </remarks>
/// <param name="socket">The connected socket beneath; owned.</param>
/// <param name="scheme">The transport's scheme, for texts.</param>
internal abstract class Wire(Socket socket, string scheme) : IDisposable
{
    /// <summary>Free bytes in front of those that <see cref="TryDetachBuffer"/> hands over, for what the caller has kept of a frame that
    /// they complete: 8 KiB, as much as it ever keeps outside a buffer of the frame's own.</summary>
    public const int Headroom = 8 * 1024;

    /// <summary>So much of what a peer goes on sending after our end is thrown away: if it has not got what we wrote by then, it does so
    /// without being read, within the close timeout.</summary>
    public const long MaxDiscarded = 16L * 1024 * 1024;

    /// <summary>While we still write, it is read again after this: so whoever only talks costs a hundredth of a processor, and one that
    /// reads once all he has to say is gone gets there.</summary>
    public static readonly TimeSpan DiscardPause = TimeSpan.FromSeconds(1);

    /// <summary>The socket beneath: for its addresses and its number.</summary>
    public Socket Socket => socket;

    /// <summary>The transport's scheme.</summary>
    public string Scheme => scheme;

    /// <summary>What went wrong: of the last operation that ended as <see cref="WireStatus.Failed"/>.</summary>
    public SocketError Error { get; protected set; }

    /// <summary>What went wrong in words, where there is more to say than <see cref="Error"/> does.</summary>
    public string? Detail { get; protected set; }

    /// <summary>Why our side ends, for the peer that broke the protocol above: said by transports that have a word for it. Set before
    /// <see cref="EndSending"/>.</summary>
    public string? Complaint { get; set; }

    /// <summary>Bytes that the last finished write took.</summary>
    public int SentBytes { get; protected set; }

    /// <summary>The transport had a handshake of its own, before which the connection was announced already.</summary>
    public virtual bool HadHandshake => false;

    /// <summary>The polling thread of the runtime that brings the socket's news, by its managed id, where its handshake has shown that
    /// (with inline completions); otherwise 0.</summary>
    public int PollingThread { get; set; }

    /// <summary>The certificate that the peer showed; null where it showed none, or is not asked for one.</summary>
    public X509Certificate2? RemoteCertificate { get; set; }

    /// <summary>What the peer asked for this WebSocket with; null where it is none, or this side asked.</summary>
    public UpgradeHead? Request { get; set; }

    /// <summary>What is written together travels in one message of the transport's own, and is read in as many pieces by the peer: answers
    /// are gathered while there is more to read.</summary>
    public virtual bool IsPacked => false;

    /// <summary>Our side can end alone, and the peer may go on sending for as long as it likes. False: it answers our end with its own, and
    /// says no more.</summary>
    public virtual bool EndsByHalves => true;

    /// <summary>What is read lies in a buffer of the transport's own first: <see cref="Receive"/> copies, <see cref="TryDetachBuffer"/>
    /// hands it over.</summary>
    public virtual bool HasOwnBuffer => false;

    /// <summary>Bytes that have arrived and can be read without a wait, as far as that is known.</summary>
    public abstract int Available { get; }

    /// <summary>Who hears of completions. Once, before the first wait.</summary>
    protected IWireEvents Events { get; private set; } = null!;

    /// <summary>Says who hears of completions. Once, before the first wait.</summary>
    public virtual void Attach(IWireEvents events) => Events = events;

    /// <summary>An address of this connection as events and peers' views show it.</summary>
    public string Format(EndPoint? address, string endpoint) => Endpoints.Format(address, scheme, endpoint);

    /// <summary>Our end of an accepted connection: see <see cref="Endpoints.FormatLocal"/>.</summary>
    public string FormatLocal(EndPoint? address, string endpoint) => Endpoints.FormatLocal(address, scheme, endpoint);

    /// <summary>Words for the end of a connection that came before the peer had said anything: with what the transport's own handshake
    /// leaves open, where it does.</summary>
    public virtual string WhyRefused(string words) => words;

    /// <summary>Begins to wait for input. True: <see cref="IWireEvents.OnInput"/> follows. False: it ended at once,
    /// <see cref="FinishWait"/> says how.</summary>
    public abstract bool WaitForInput();

    /// <summary>Takes the end of a wait, once for each. <see cref="WireStatus.WouldWait"/>: it was none, another OnInput follows.</summary>
    public abstract WireStatus FinishWait();

    /// <summary>Reads what is there, without waiting.</summary>
    public abstract WireStatus Receive(Span<byte> into, out int received);

    /// <summary>
    /// Hands over the array that the transport itself read into, with all that is <see cref="Available"/>: it saves the copy that
    /// <see cref="Receive"/> makes. In front of the bytes is room for <see cref="Headroom"/> more. False: there is nothing to hand over, or
    /// so little that a copy is better; read it.
    /// </summary>
    /// <param name="array">Of the pool the wire was made with; the caller's from here on.</param>
    /// <param name="start">Where the bytes start.</param>
    /// <param name="length">How many there are.</param>
    public virtual bool TryDetachBuffer([NotNullWhen(true)] out byte[]? array, out int start, out int length)
    {
        (array, start, length) = (null, 0, 0);
        return false;
    }

    /// <summary>Writes what there is room for, without waiting. A transport that has to pack bytes first always says
    /// <see cref="WireStatus.WouldWait"/>.</summary>
    public abstract WireStatus Send(ReadOnlySpan<byte> bytes, out int sent);

    /// <summary>Several pieces go out in one write (<see cref="Send(IList{ArraySegment{byte}}, out int)"/>).</summary>
    public virtual bool Gathers => false;

    /// <summary>Writes what there is room for of several pieces, without waiting. Only where the transport <see cref="Gathers"/>.</summary>
    public virtual WireStatus Send(IList<ArraySegment<byte>> pieces, out int sent) => throw new NotSupportedException(scheme);

    /// <summary>Writes when there is room; the bytes must stay as they are until then. True: <see cref="IWireEvents.OnSent"/> follows.
    /// False: it ended at once. Either way <see cref="FinishSend"/> says how.</summary>
    /// <param name="bytes">What to write.</param>
    /// <param name="endsMidFrame">The frame that these bytes end in goes on with the next write: a transport that has messages of its own
    /// keeps it in one.</param>
    public abstract bool BeginSend(ReadOnlyMemory<byte> bytes, bool endsMidFrame);

    /// <summary>Takes the end of a write, once for each: Done with <see cref="SentBytes"/>, or Failed.</summary>
    public abstract WireStatus FinishSend();

    /// <summary>Ends our side; nothing is written after it. Done; WouldWait: <see cref="IWireEvents.OnEnded"/> follows; Failed: there is
    /// nobody to tell.</summary>
    public abstract WireStatus EndSending(WireEnd end);

    /// <summary>Lets go of everything, at once, whatever is pending: aborts, unless our side has ended.</summary>
    public abstract void Dispose();

    /// <summary>
    /// For <see cref="Dispose"/> to follow: what the system has taken of us it then goes on delivering, and our end behind it. .NET makes a
    /// reset of a disposal while something is pending, but not where the socket was told of an end.
    /// </summary>
    public void AvoidReset()
    {
        try
        {
            Socket.Shutdown(SocketShutdown.Send);
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            // Gone already.
        }
    }
}
