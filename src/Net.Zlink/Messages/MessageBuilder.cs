using System.Buffers;
using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Sockets.Links;

namespace Net.Zlink;

/// <summary>Puts a message of several parts together, which is then sent whole or not at all. Reusable: an accepted send leaves it
/// empty.</summary>
/// <remarks>It is also the writer of its next part, for any serializer: what is written between two calls is a part once
/// <see cref="EndPart"/> is called.
/// Not thread-safe, and not to be touched while an asynchronous send of it waits: that send then throws InvalidOperationException, and
/// nothing of it was sent. Its memory is pooled: dispose it.</remarks>
public sealed class MessageBuilder : IBufferWriter<byte>, IDisposable
{
    private readonly EncodedMessage _encoded;
    private Slab.SlabCache? _slabs;
    private bool _isDisposed;

    /// <summary>An empty message, with memory from the shared pool.</summary>
    public MessageBuilder()
        : this(BufferPool.Shared)
    {
    }

    /// <summary>An empty message.</summary>
    /// <param name="pool">Where memory comes from; with a socket's own context's pool, long messages are handed over without a
    /// copy.</param>
    /// <exception cref="ArgumentNullException"><paramref name="pool"/> is null.</exception>
    public MessageBuilder(BufferPool pool)
    {
        ArgumentNullException.ThrowIfNull(pool);
        _encoded = new EncodedMessage(pool);
    }

    /// <summary>Number of parts so far; without one that is being written.</summary>
    public int Count => _encoded.Parts;

    /// <summary>One part, as it was added. Valid until the builder is touched or sent.</summary>
    /// <param name="index">From 0 on.</param>
    /// <exception cref="ArgumentOutOfRangeException">There is no such part.</exception>
    /// <exception cref="ObjectDisposedException">The builder is disposed.</exception>
    public ReadOnlySpan<byte> this[int index]
    {
        get
        {
            ArgumentOutOfRangeException.ThrowIfNegative(index);
            ArgumentOutOfRangeException.ThrowIfGreaterThanOrEqual(index, Encoded.Parts);
            PartCursor at = default;
            ReadOnlySpan<byte> part = Encoded.NextPart(ref at);
            while (at.Index <= index)
            {
                part = Encoded.NextPart(ref at);
            }

            return part;
        }
    }

    /// <summary>The message, to be sent.</summary>
    /// <exception cref="ObjectDisposedException">The builder is disposed.</exception>
    /// <exception cref="InvalidOperationException">A part is being written.</exception>
    internal EncodedMessage Encoded
    {
        get
        {
            ObjectDisposedException.ThrowIf(_isDisposed, this);
            return _encoded.HasOpenPart ? throw new InvalidOperationException("A part is being written: call EndPart first, or Clear.")
                : _encoded;
        }
    }

    /// <summary>Adds a part; copies it.</summary>
    /// <param name="part">Any bytes, also none; a null array is taken for none.</param>
    /// <returns>This builder.</returns>
    /// <exception cref="ObjectDisposedException">The builder is disposed.</exception>
    /// <exception cref="ArgumentException">All copied parts together would be longer than a .NET array.</exception>
    /// <exception cref="InvalidOperationException">A part is being written.</exception>
    public MessageBuilder Add(ReadOnlySpan<byte> part)
    {
        Encoded.Add(part);
        return this;
    }

    /// <summary>Adds a text as a part, in UTF-8.</summary>
    /// <param name="text">The text.</param>
    /// <returns>This builder.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="text"/> is null.</exception>
    /// <exception cref="ObjectDisposedException">The builder is disposed.</exception>
    /// <exception cref="ArgumentException">All copied parts together would be longer than a .NET array.</exception>
    /// <exception cref="InvalidOperationException">A part is being written.</exception>
    public MessageBuilder Add(string text)
    {
        ArgumentNullException.ThrowIfNull(text);
        System.Text.Encoding.UTF8.GetBytes(text, AddSpace(System.Text.Encoding.UTF8.GetByteCount(text)));
        return this;
    }

    /// <summary>Adds a part that is handed over: a long one goes without a copy and is disposed when it was sent, or with the builder;
    /// below 16 KiB it is copied and disposed at once.</summary>
    /// <param name="owner">Its owner.</param>
    /// <param name="length">How many of its bytes are the part.</param>
    /// <returns>This builder.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="owner"/> is null.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The memory has fewer bytes.</exception>
    /// <exception cref="ObjectDisposedException">The builder is disposed.</exception>
    /// <exception cref="InvalidOperationException">A part is being written.</exception>
    public MessageBuilder Add(IMemoryOwner<byte> owner, int length)
    {
        ArgumentNullException.ThrowIfNull(owner);
        EncodedMessage encoded = Encoded;
        ArgumentOutOfRangeException.ThrowIfNegative(length);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(length, owner.Memory.Length);
        encoded.Add(owner, length);
        return this;
    }

    /// <summary>Adds a part of that many bytes, for the caller to fill before the next call.</summary>
    /// <param name="length">How many.</param>
    /// <returns>The part's bytes, of any content.</returns>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="length"/> is negative.</exception>
    /// <exception cref="ObjectDisposedException">The builder is disposed.</exception>
    /// <exception cref="InvalidOperationException">A part is being written.</exception>
    public Span<byte> AddSpace(int length)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(length);
        return Encoded.AddSpace(length);
    }

    /// <summary>Room to write more of the next part.</summary>
    /// <param name="sizeHint">At least how many bytes; 0 for some.</param>
    /// <returns>The room, of any content; valid until the next call of the builder.</returns>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="sizeHint"/> is negative.</exception>
    /// <exception cref="ArgumentException">All copied parts together would be longer than a .NET array.</exception>
    /// <exception cref="ObjectDisposedException">The builder is disposed.</exception>
    public Memory<byte> GetMemory(int sizeHint = 0)
    {
        ObjectDisposedException.ThrowIf(_isDisposed, this);
        ArgumentOutOfRangeException.ThrowIfNegative(sizeHint);
        return _encoded.GetSpace(sizeHint);
    }

    /// <inheritdoc cref="GetMemory"/>
    public Span<byte> GetSpan(int sizeHint = 0) => GetMemory(sizeHint).Span;

    /// <summary>So many bytes were written to the room that the last <see cref="GetMemory"/> or <see cref="GetSpan"/> gave.</summary>
    /// <param name="count">How many.</param>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="count"/> is negative.</exception>
    /// <exception cref="InvalidOperationException">There was not as much room.</exception>
    /// <exception cref="ObjectDisposedException">The builder is disposed.</exception>
    public void Advance(int count)
    {
        ObjectDisposedException.ThrowIf(_isDisposed, this);
        ArgumentOutOfRangeException.ThrowIfNegative(count);
        if (!_encoded.TryAdvance(count))
        {
            throw new InvalidOperationException("More was written than GetSpan or GetMemory gave room for.");
        }
    }

    /// <summary>Adds what was written since the last part as a part; an empty one if nothing was.</summary>
    /// <returns>This builder.</returns>
    /// <exception cref="ObjectDisposedException">The builder is disposed.</exception>
    public MessageBuilder EndPart()
    {
        ObjectDisposedException.ThrowIf(_isDisposed, this);
        _encoded.EndPart();
        return this;
    }

    /// <summary>The message as one that was received, without a network: for unit tests, and to be passed on. The builder is empty
    /// then.</summary>
    /// <returns>The message; dispose it. Nobody has sent it: its routing id and its remote address are empty.</returns>
    /// <exception cref="InvalidOperationException">The message has no part, or one is being written.</exception>
    /// <exception cref="ObjectDisposedException">The builder is disposed, or memory that was handed over.</exception>
    public Message ToMessage()
    {
        EncodedMessage encoded = Encoded;
        if (encoded.Parts == 0)
        {
            throw new InvalidOperationException("A message has at least one part: add one.");
        }

        encoded.PutIntoArrays(encoded.Pool);
        InboundLease lease = InboundLease.Rent(slab: null, PeerIdentity.Unknown);
        encoded.MoveTo(lease, _slabs ??= new Slab.SlabCache(encoded.Pool));
        lease.EndMessage();
        return new Message(lease, 0);
    }

    /// <summary>Forgets all parts, also one that is being written; disposes memory that was handed over.</summary>
    public void Clear() => _encoded.Clear();

    /// <summary>Gives the memory back. Idempotent.</summary>
    public void Dispose()
    {
        _isDisposed = true;
        _encoded.Release();
    }
}
