using System.Diagnostics.CodeAnalysis;
using System.Security.Cryptography.X509Certificates;
using System.Text;
using Net.Zlink.Engine;
using Net.Zlink.Sockets.Links;

namespace Net.Zlink;

/// <summary>A received message of one or more parts: a lease on pooled memory. Dispose it when its bytes are no longer needed.</summary>
/// <remarks>
/// <para>Copies of this struct are the same lease. The first Dispose ends it; a second one does nothing, and later reads throw.</para>
/// <para>
/// A message may be passed to any thread and disposed there. But no thread may dispose or send it while another reads, sends or disposes
/// it.
/// </para>
/// <para>The memory of a message that is not disposed is not reused until it is collected.</para>
/// </remarks>
/// <example>
/// <code>
/// using Message message = await socket.ReceiveAsync();
/// string topic = message.GetString();
/// ReadOnlySpan&lt;byte&gt; body = message[1].Span;
/// </code>
/// </example>
public readonly struct Message : IDisposable
{
    // More would keep much memory of others: a lease of copies ends with the last of its messages.
    private const int MaxCopiedBytes = 64 * 1024;

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

    /// <summary>The number of parts, at least 1. 0 for an empty message, such as default.</summary>
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

    /// <summary>The first part, valid until Dispose.</summary>
    /// <exception cref="ObjectDisposedException">The message was disposed.</exception>
    public ReadOnlyMemory<byte> Memory => _lease is null ? ReadOnlyMemory<byte>.Empty : _lease.Part(_slot, 0, _generation);

    /// <inheritdoc cref="Memory"/>
    public ReadOnlySpan<byte> Span => Memory.Span;

    /// <summary>The routing id of the sender: for ROUTER the id to answer to, otherwise the sender's own. Valid until Dispose.</summary>
    /// <exception cref="ObjectDisposedException">The message was disposed.</exception>
    public RoutingId RoutingId => Source?.RoutingId ?? default(RoutingId);

    /// <summary>The sender's address, such as tcp://192.0.2.1:40000. Empty for inproc.</summary>
    /// <exception cref="ObjectDisposedException">The message was disposed.</exception>
    public string RemoteAddress => Source?.RemoteAddress ?? "";

    /// <summary>
    /// The sender's certificate over tls and wss, or null. A listener asks for one with <see cref="TlsOptions.RequireClientCertificate"/>.
    /// The connection owns it: do not dispose it.
    /// </summary>
    /// <exception cref="ObjectDisposedException">The message was disposed.</exception>
    public X509Certificate2? RemoteCertificate => Source?.Certificate;

    /// <summary>The sender's upgrade request, if it was accepted over ws or wss, or null.</summary>
    /// <exception cref="ObjectDisposedException">The message was disposed.</exception>
    public WebSocketRequest? WebSocketRequest => Source is { } source
        ? global::Net.Zlink.WebSocketRequest.Of(source.Request, remote: null, source.Certificate) : null;

    /// <summary>What the application passed to <see cref="ZlinkSocket.AcceptAsync"/> for the sender, or null.</summary>
    /// <exception cref="ObjectDisposedException">The message was disposed.</exception>
    public PeerDetails? PeerDetails => Source?.Details;

    /// <summary>
    /// An object that the application keeps with the sender. It is null until it is set, and then the same for all messages of that peer.
    /// So a server needs no table of its clients.
    /// </summary>
    /// <remarks>
    /// Thread-safe; the last write wins. It belongs to one connection: a peer that reconnects begins with null.
    /// <see cref="PeerInfo.UserState"/> returns it, too.
    /// </remarks>
    /// <exception cref="InvalidOperationException">
    /// On setting: the message has no sender. The sender of an XPUB's notice is its subscriber.
    /// </exception>
    /// <exception cref="ObjectDisposedException">The message was disposed.</exception>
    public object? UserState
    {
        get => Source?.Slot.State;
        set
        {
            if (Source is not { } source || ReferenceEquals(source, PeerIdentity.Unknown))
            {
                throw new InvalidOperationException(
                    "The message has no sender (it was not received from a peer), so it cannot keep a UserState.");
            }

            source.Slot.State = value;
        }
    }

    private PeerIdentity? Source => _lease is null ? null : Checked(_lease.Source) as PeerIdentity;

    /// <summary>
    /// Gets a property of the sender's connection: "Peer-Address" and "__fd" (not over inproc), and its metadata, such as "Socket-Type" and
    /// "Identity" (docs/protocol.md section 8).
    /// </summary>
    /// <param name="name">The property's name. Case matters.</param>
    /// <param name="value">Its value.</param>
    /// <returns>False if there is no such property.</returns>
    /// <exception cref="ObjectDisposedException">The message was disposed.</exception>
    public bool TryGetProperty(string name, [NotNullWhen(true)] out string? value)
    {
        ArgumentNullException.ThrowIfNull(name);
        value = null;
        return Source is { Properties: { } properties } && properties.TryGetText(name, out value);
    }

    /// <summary>Makes a message of one part as if it had been received, for unit tests. <see cref="MessageBuilder.ToMessage"/> makes one of
    /// several parts.</summary>
    /// <param name="part">Any bytes, also none; copied.</param>
    /// <returns>The message. Dispose it. It has no sender: its routing id and remote address are empty.</returns>
    public static Message Create(ReadOnlySpan<byte> part)
    {
        using var rented = new RentedBuilder();
        return rented.Message.Add(part).ToMessage();
    }

    /// <summary>As <see cref="Create(ReadOnlySpan{byte})"/>, of a text in UTF-8.</summary>
    /// <param name="text">The text.</param>
    /// <returns>The message. Dispose it.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="text"/> is null.</exception>
    public static Message Create(string text)
    {
        ArgumentNullException.ThrowIfNull(text);
        return Create(Encoding.UTF8.GetBytes(text));
    }

    /// <summary>Makes a second lease on the same bytes, which is disposed separately.</summary>
    /// <returns>The copy. No bytes are copied.</returns>
    /// <exception cref="ObjectDisposedException">The message was disposed.</exception>
    public Message Copy() => _lease is null ? default : AddCopy(BeginCopies(Checked(_lease), _slot, messages: 1));

    /// <summary>Makes a second lease on the same bytes of each message, as <see cref="Copy"/> does, for less.</summary>
    /// <remarks>
    /// Each copy is disposed separately. Up to 256 parts and 64 KiB of them share what the library keeps about them, and memory is reused
    /// when the last of these is disposed.
    /// </remarks>
    /// <param name="messages">Which messages.</param>
    /// <param name="copies">Gets the copies, in order. No bytes are copied.</param>
    /// <exception cref="ArgumentOutOfRangeException">There are more messages than places for copies.</exception>
    /// <exception cref="ObjectDisposedException">A message was disposed; there are no copies then.</exception>
    public static void CopyMany(ReadOnlySpan<Message> messages, Span<Message> copies)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan(messages.Length, copies.Length, nameof(messages));
        foreach (ref readonly Message message in messages)
        {
            _ = message.Sender; // Throws before there is a copy.
        }

        InboundLease? lease = null;
        for (int i = 0; i < messages.Length; i++)
        {
            ref readonly Message message = ref messages[i];
            if (message._lease is not { } from)
            {
                copies[i] = default;
                continue;
            }

            if (lease is null || !MayShare(lease, from, message._slot))
            {
                lease = BeginCopies(from, message._slot, messages.Length - i);
            }

            copies[i] = message.AddCopy(lease);
        }
    }

    /// <summary>Decodes a part as UTF-8 text.</summary>
    /// <param name="index">From 0 on.</param>
    /// <returns>A new string. Invalid bytes become the replacement character.</returns>
    /// <exception cref="ArgumentOutOfRangeException">There is no such part.</exception>
    /// <exception cref="ObjectDisposedException">The message was disposed.</exception>
    public string GetString(int index = 0) => System.Text.Encoding.UTF8.GetString(this[index].Span);

    /// <summary>Copies all parts to new arrays.</summary>
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

    /// <summary>Ends the lease. Idempotent.</summary>
    public void Dispose() => _lease?.Release(_slot, _generation);

    internal bool IsNothing => _lease is null;

    internal object? NoticeOf => _lease is null ? null : Checked(_lease.NoticeOf);

    internal object? Sender => _lease is null ? null : Checked(_lease.Source);

    /// <summary>The payload bytes of all parts.</summary>
    /// <exception cref="ObjectDisposedException">The message was disposed.</exception>
    public long ByteCount => _lease is null ? 0 : Checked(_lease.BytesOf(_slot));

    /// <summary><paramref name="first"/>: one reference to it is transferred, also if this throws.</summary>
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

        InboundLease copy = InboundLease.RentForOne(slab: null, Checked(_lease.Source));
        copy.NoticeOf = _lease.NoticeOf;
        copy.IsRepeatedNotice = _lease.IsRepeatedNotice;
        if (first is not null)
        {
            copy.AddPart(first, 0, firstLength);
        }

        copy.AddParts(_lease, _slot, skip);
        return new Message(copy, copy.EndMessage());
    }

    internal DeferredMessage Defer()
    {
        if (_lease is null)
        {
            throw new InvalidOperationException("This Message is empty: it was never received, so it cannot be sent.");
        }

        Checked(0);
        return new DeferredMessage(_lease, _slot, _generation);
    }

    private static InboundLease BeginCopies(InboundLease from, int slot, int messages)
    {
        // Most parts of a run lie in the slab of one read, so that one reference serves all of them.
        Buffers.Slab slab = from.PartAt(slot).Slab;
        slab.AddReference();
        InboundLease copies = messages * from.PartsOf(slot) > InboundLease.SmallestSlots ? InboundLease.Rent(slab, from.Source)
            : InboundLease.RentForOne(slab, from.Source);
        copies.NoticeOf = from.NoticeOf;
        copies.IsRepeatedNotice = from.IsRepeatedNotice;
        return copies;
    }

    private static bool MayShare(InboundLease copies, InboundLease from, int slot) => copies.IsOfSameSource(from)
        && copies.Count + from.PartsOf(slot) <= InboundLease.MaxSlots && copies.Bytes + from.BytesOf(slot) <= MaxCopiedBytes;

    private Message AddCopy(InboundLease copies) => new(copies, copies.AddCopy(_lease!, _slot));

    private T Checked<T>(T value)
    {
        return _lease!.IsLive(_slot, _generation) ? value : throw InboundLease.Ended();
    }
}
