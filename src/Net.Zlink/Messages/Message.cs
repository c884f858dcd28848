using System.Diagnostics.CodeAnalysis;
using System.Security.Cryptography.X509Certificates;
using Net.Zlink.Engine;
using Net.Zlink.Sockets.Links;

namespace Net.Zlink;

/// <summary>One received message of one or more parts: a lease on pooled memory. Dispose it when its bytes are not needed any
/// more.</summary>
/// <remarks>
/// Copies of this struct are the same lease: the first Dispose ends all of them, a second one is harmless, and reading afterwards throws. A
/// message may be passed to and disposed on any thread, but do not dispose it while another thread reads it; sending it ends it, too, so no
/// two threads may send the same message at once, and none may dispose it while it is sent: what arrives then is not defined. A message
/// that is never disposed keeps its memory from being reused until it is collected.
/// </remarks>
public readonly struct Message : IDisposable
{
    private readonly InboundLease? _lease;
    private readonly int _slot;
    private readonly int _generation;

    internal Message(in DequeuedMessage dequeued)
        : this(dequeued.Lease, dequeued.Slot)
    {
    }

    internal Message(InboundLease lease, int slot)
    {
        _lease = lease;
        _slot = slot;
        _generation = lease.GenerationOf(slot);
    }

    /// <summary>Number of parts, at least 1; 0 for a message that was never received.</summary>
    /// <exception cref="ObjectDisposedException">The message was disposed.</exception>
    public int PartCount => _lease is null ? 0 : Checked(_lease.PartsOf(_slot));

    /// <summary>One part, valid until Dispose.</summary>
    /// <param name="index">From 0 on.</param>
    /// <exception cref="ArgumentOutOfRangeException">There is no such part.</exception>
    /// <exception cref="ObjectDisposedException">The message was disposed.</exception>
    public ReadOnlyMemory<byte> this[int index]
    {
        get
        {
            ArgumentOutOfRangeException.ThrowIfNegative(index);
            ArgumentOutOfRangeException.ThrowIfGreaterThanOrEqual(index, PartCount);
            return _lease!.Part(_slot, index, _generation);
        }
    }

    /// <summary>The first part, which is all of a message of one part. Valid until Dispose.</summary>
    /// <exception cref="ObjectDisposedException">The message was disposed.</exception>
    public ReadOnlyMemory<byte> Memory => _lease is null ? ReadOnlyMemory<byte>.Empty : _lease.Part(_slot, 0, _generation);

    /// <summary>The first part, which is all of a message of one part. Valid until Dispose.</summary>
    /// <exception cref="ObjectDisposedException">The message was disposed.</exception>
    public ReadOnlySpan<byte> Span => Memory.Span;

    /// <summary>The routing id of the peer that sent it: for ROUTER the id to answer to, else what the peer calls itself. Valid until
    /// Dispose.</summary>
    /// <exception cref="ObjectDisposedException">The message was disposed.</exception>
    public RoutingId RoutingId => Source?.RoutingId ?? default(RoutingId);

    /// <summary>The endpoint it came from, such as tcp://192.0.2.1:40000; empty for inproc.</summary>
    /// <exception cref="ObjectDisposedException">The message was disposed.</exception>
    public string RemoteAddress => Source?.RemoteAddress ?? "";

    /// <summary>The certificate that the peer that sent it has shown, over tls and wss; null where it showed none, and for what the socket
    /// itself made. A listener asks for one with <see cref="TlsOptions.RequireClientCertificate"/>. It is the connection's: do not dispose
    /// it.</summary>
    /// <exception cref="ObjectDisposedException">The message was disposed.</exception>
    public X509Certificate2? RemoteCertificate => Source?.Certificate;

    /// <summary>What the peer that sent it asked for its WebSocket with, of one that came in over ws or wss; null of any other.</summary>
    /// <exception cref="ObjectDisposedException">The message was disposed.</exception>
    public WebSocketRequest? WebSocketRequest => Source is { } source ? global::Net.Zlink.WebSocketRequest.Of(source) : null;

    /// <summary>What the application keeps with the peer that sent it: null until the application sets it, and then the same for each of
    /// the peer's messages. So a server needs no table of its clients.</summary>
    /// <remarks>Safe for any number of threads; the last to set it wins. It belongs to one connection and goes with it: a peer that
    /// connects again begins with null. A copy has what the message has. <see cref="PeerInfo.UserState"/> shows it, too.</remarks>
    /// <exception cref="InvalidOperationException">On setting: no peer sent it: it was never received. An XPUB's notice of a subscription
    /// has that of its subscriber.</exception>
    /// <exception cref="ObjectDisposedException">The message was disposed.</exception>
    public object? UserState
    {
        get => Source?.Slot.State;
        set
        {
            if (Source is not { } source || ReferenceEquals(source, PeerIdentity.Unknown))
            {
                throw new InvalidOperationException(
                    "No peer sent this message: it was never received. There is nobody to keep anything with.");
            }

            source.Slot.State = value;
        }
    }

    private PeerIdentity? Source => _lease is null ? null : Checked(_lease.Source) as PeerIdentity;

    /// <summary>A property of the connection it came by: "Peer-Address" and "__fd" (not over inproc), and where the peer sends metadata
    /// "Socket-Type", "Identity" and whatever else it says (docs/protocol.md section 8).</summary>
    /// <param name="name">The property's name, with its case.</param>
    /// <param name="value">Its value.</param>
    /// <returns>False if there is none of that name.</returns>
    /// <exception cref="ObjectDisposedException">The message was disposed.</exception>
    public bool TryGetProperty(string name, [NotNullWhen(true)] out string? value)
    {
        ArgumentNullException.ThrowIfNull(name);
        value = null;
        return Source is { Properties: { } properties } && properties.TryGetText(name, out value);
    }

    /// <summary>A second lease on the same bytes, to be disposed on its own.</summary>
    /// <returns>The copy; nothing is copied but references.</returns>
    /// <exception cref="ObjectDisposedException">The message was disposed.</exception>
    public Message Copy() => With(first: null, firstLength: 0, skip: 0);

    /// <summary>A part as text, of UTF-8.</summary>
    /// <param name="index">From 0 on.</param>
    /// <returns>A string of its own. What is no UTF-8 comes as the replacement character.</returns>
    /// <exception cref="ArgumentOutOfRangeException">There is no such part.</exception>
    /// <exception cref="ObjectDisposedException">The message was disposed.</exception>
    public string GetString(int index = 0) => System.Text.Encoding.UTF8.GetString(this[index].Span);

    /// <summary>All parts as arrays of their own.</summary>
    /// <returns>The parts.</returns>
    /// <exception cref="ObjectDisposedException">The message was disposed.</exception>
    public byte[][] ToArrays()
    {
        var parts = new byte[PartCount][];
        for (int i = 0; i < parts.Length; i++)
        {
            parts[i] = this[i].ToArray();
        }

        return parts;
    }

    /// <summary>Ends the lease; idempotent.</summary>
    public void Dispose() => _lease?.Release(_slot, _generation);

    /// <summary>It was never received.</summary>
    internal bool IsNothing => _lease is null;

    /// <summary>Of a notice that the socket itself made: whom it is about. Null for what a peer sent.</summary>
    /// <exception cref="ObjectDisposedException">The message was disposed.</exception>
    internal object? NoticeOf => _lease is null ? null : Checked(_lease.NoticeOf);

    /// <summary>Who sent it, or whom a notice is about, as he was then: he is another one when he has connected anew.</summary>
    /// <exception cref="ObjectDisposedException">The message was disposed.</exception>
    internal object? Sender => _lease is null ? null : Checked(_lease.Source);

    /// <summary>Payload bytes of all parts together.</summary>
    /// <exception cref="ObjectDisposedException">The message was disposed.</exception>
    public long ByteCount => _lease is null ? 0 : Checked(_lease.BytesOf(_slot));

    /// <summary>A second lease on the parts from one on, behind a part that comes first: how a routing id is put in front of a message, or
    /// taken off.</summary>
    /// <param name="first">Begins with the part to come first; one reference to it is taken over, also where this throws. Null for
    /// none.</param>
    /// <param name="firstLength">How long that part is.</param>
    /// <param name="skip">How many parts are left out.</param>
    /// <exception cref="ObjectDisposedException">The message was disposed.</exception>
    internal Message With(Buffers.Slab? first, int firstLength, int skip)
    {
        if (_lease is null || !_lease.IsLive(_slot, _generation))
        {
            first?.Release();
        }

        if (_lease is null)
        {
            return default;
        }

        int parts = PartCount;
        InboundLease copy = InboundLease.Rent(slab: null, _lease.Source);
        copy.NoticeOf = _lease.NoticeOf;
        if (first is not null)
        {
            copy.AddPart(first, 0, firstLength);
        }

        for (int i = skip; i < parts; i++)
        {
            (Buffers.Slab slab, int offset, int length) = _lease.OffsetOf(_slot + i);
            slab.AddReference();
            copy.AddPart(slab, offset, length);
        }

        copy.EndMessage();
        return new Message(copy, 0);
    }

    /// <summary>The message on its way to another socket.</summary>
    /// <exception cref="InvalidOperationException">There is no message.</exception>
    /// <exception cref="ObjectDisposedException">The message was disposed.</exception>
    internal DeferredMessage Defer()
    {
        if (_lease is null)
        {
            throw new InvalidOperationException("There is no message to send: this one was never received.");
        }

        Checked(0);
        return new DeferredMessage(_lease, _slot, _generation);
    }

    private T Checked<T>(T value)
    {
        return _lease!.IsLive(_slot, _generation) ? value : throw InboundLease.Ended();
    }
}
