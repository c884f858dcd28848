using System.Buffers;
using System.Runtime.CompilerServices;
using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Links;

namespace Net.Zlink;

/// <summary>Builds a message of several parts, which is sent whole or not at all. Reusable: an accepted send empties it.</summary>
/// <remarks>
/// It is also the buffer writer of its next part, for any serializer: <see cref="EndPart"/> ends the part. Not thread-safe. It must not be
/// changed while an asynchronous send waits; that send then throws InvalidOperationException and sends nothing. Its memory is pooled:
/// dispose it.
/// </remarks>
/// <example>
/// <code>
/// using var message = new MessageBuilder();
/// message.Add("order").Add(payload);
/// await socket.SendAsync(message);
/// </code>
/// </example>
public sealed class MessageBuilder : IBufferWriter<byte>, IDisposable
{
    private readonly EncodedMessage _encoded;
    private Slab.SlabCache? _slabs;
    private bool _isDisposed;

    /// <summary>Creates an empty message with memory from the shared pool.</summary>
    public MessageBuilder()
        : this(BufferPool.Shared)
    {
    }

    /// <summary>Creates an empty message.</summary>
    /// <param name="pool">The source of memory. With the context's own pool, long messages are sent without a copy.</param>
    /// <exception cref="ArgumentNullException"><paramref name="pool"/> is null.</exception>
    public MessageBuilder(BufferPool pool)
    {
        ArgumentNullException.ThrowIfNull(pool);
        _encoded = new EncodedMessage(pool, ZmpFrame.Format);
    }

    /// <summary>The number of complete parts.</summary>
    public int Count => _encoded.Parts;

    /// <summary>One part. Valid until the builder is changed or sent.</summary>
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

    internal EncodedMessage Encoded
    {
        get
        {
            ObjectDisposedException.ThrowIf(_isDisposed, this);
            return _encoded.HasOpenPart ? throw new InvalidOperationException("A part is being written: call EndPart first, or Clear.")
                : _encoded;
        }
    }

    /// <summary>Adds a part. Copies it.</summary>
    /// <param name="part">The part. It may be empty; a null array counts as empty.</param>
    /// <returns>This builder.</returns>
    /// <exception cref="ObjectDisposedException">The builder is disposed.</exception>
    /// <exception cref="ArgumentException">All copied parts together would exceed an array.</exception>
    /// <exception cref="InvalidOperationException">A part is being written.</exception>
    /// <exception cref="ZlinkException">NoMemory. The earlier parts stay.</exception>
    public MessageBuilder Add(ReadOnlySpan<byte> part)
    {
        part.CopyTo(AddSpace(part.Length));
        return this;
    }

    /// <summary>Adds a text as a part, encoded in UTF-8.</summary>
    /// <param name="text">The text.</param>
    /// <returns>This builder.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="text"/> is null.</exception>
    /// <exception cref="ObjectDisposedException">The builder is disposed.</exception>
    /// <exception cref="ArgumentException">All copied parts together would exceed an array.</exception>
    /// <exception cref="InvalidOperationException">A part is being written.</exception>
    /// <exception cref="ZlinkException">NoMemory. The earlier parts stay.</exception>
    public MessageBuilder Add(string text)
    {
        ArgumentNullException.ThrowIfNull(text);
        System.Text.Encoding.UTF8.GetBytes(text, AddSpace(System.Text.Encoding.UTF8.GetByteCount(text)));
        return this;
    }

    /// <summary>
    /// Adds a part in transferred memory. From 16 KiB on it is sent without a copy and disposed after the send, or with the builder. A
    /// shorter one is copied and disposed at once.
    /// </summary>
    /// <param name="owner">The owner of the memory.</param>
    /// <param name="length">The length of the part in bytes.</param>
    /// <returns>This builder.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="owner"/> is null.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The memory has fewer bytes.</exception>
    /// <exception cref="ObjectDisposedException">The builder is disposed.</exception>
    /// <exception cref="InvalidOperationException">A part is being written.</exception>
    /// <exception cref="ZlinkException">NoMemory. The earlier parts stay.</exception>
    public MessageBuilder Add(IMemoryOwner<byte> owner, int length)
    {
        ArgumentNullException.ThrowIfNull(owner);
        EncodedMessage encoded = Encoded;
        ArgumentOutOfRangeException.ThrowIfNegative(length);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(length, owner.Memory.Length);
        try
        {
            encoded.Add(owner, length);
        }
        catch (OutOfMemoryException)
        {
            throw ZlinkException.NoMemory();
        }

        return this;
    }

    /// <summary>Adds a part of this length, which the caller fills before the next call.</summary>
    /// <param name="length">The length of the part in bytes.</param>
    /// <returns>The part's bytes, not initialized.</returns>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="length"/> is negative.</exception>
    /// <exception cref="ObjectDisposedException">The builder is disposed.</exception>
    /// <exception cref="InvalidOperationException">A part is being written.</exception>
    /// <exception cref="ZlinkException">NoMemory. The earlier parts stay.</exception>
    public Span<byte> AddSpace(int length)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(length);
        try
        {
            return Encoded.AddSpace(length);
        }
        catch (OutOfMemoryException)
        {
            throw ZlinkException.NoMemory();
        }
    }

    /// <summary>Returns memory for more of the next part.</summary>
    /// <param name="sizeHint">The least number of bytes. 0: any.</param>
    /// <returns>The memory, not initialized. Valid until the next call of the builder.</returns>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="sizeHint"/> is negative.</exception>
    /// <exception cref="ArgumentException">All copied parts together would exceed an array.</exception>
    /// <exception cref="ObjectDisposedException">The builder is disposed.</exception>
    /// <exception cref="ZlinkException">NoMemory. The earlier parts stay.</exception>
    public Memory<byte> GetMemory(int sizeHint = 0)
    {
        ObjectDisposedException.ThrowIf(_isDisposed, this);
        ArgumentOutOfRangeException.ThrowIfNegative(sizeHint);
        try
        {
            return _encoded.GetSpace(sizeHint);
        }
        catch (OutOfMemoryException)
        {
            throw ZlinkException.NoMemory();
        }
    }

    /// <inheritdoc cref="GetMemory"/>
    public Span<byte> GetSpan(int sizeHint = 0) => GetMemory(sizeHint).Span;

    /// <summary>Adds bytes that were written to the memory of the last <see cref="GetMemory"/> or <see cref="GetSpan"/>.</summary>
    /// <param name="count">The number of bytes.</param>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="count"/> is negative.</exception>
    /// <exception cref="InvalidOperationException">The memory is shorter.</exception>
    /// <exception cref="ObjectDisposedException">The builder is disposed.</exception>
    public void Advance(int count)
    {
        ObjectDisposedException.ThrowIf(_isDisposed, this);
        ArgumentOutOfRangeException.ThrowIfNegative(count);
        if (!_encoded.TryAdvance(count))
        {
            throw new InvalidOperationException("Advance counts more bytes than GetSpan or GetMemory returned.");
        }
    }

    /// <summary>Ends the part that is being written. It is empty if nothing was written.</summary>
    /// <returns>This builder.</returns>
    /// <exception cref="ObjectDisposedException">The builder is disposed.</exception>
    public MessageBuilder EndPart()
    {
        ObjectDisposedException.ThrowIf(_isDisposed, this);
        _encoded.EndPart();
        return this;
    }

    /// <summary>
    /// Moves the parts into a message as if it had been received, for unit tests and for forwarding. The builder is empty then.
    /// </summary>
    /// <returns>The message. Dispose it. It has no sender: its routing id and remote address are empty.</returns>
    /// <exception cref="InvalidOperationException">The message has no part, or one is being written.</exception>
    /// <exception cref="ObjectDisposedException">The builder, or transferred memory, is disposed.</exception>
    public Message ToMessage()
    {
        EncodedMessage encoded = Encoded;
        if (encoded.Parts == 0)
        {
            throw new InvalidOperationException("A message needs at least one part: add one.");
        }

        encoded.PutIntoArrays(encoded.Pool);
        InboundLease lease = InboundLease.RentForOne(slab: null, PeerIdentity.Unknown);
        encoded.MoveTo(lease, _slabs ??= new Slab.SlabCache(encoded.Pool));
        lease.EndMessage();
        return new Message(lease, 0);
    }

    /// <summary>Removes all parts, also an unfinished one, and disposes transferred memory.</summary>
    public void Clear() => _encoded.Clear();

    /// <summary>Releases the memory. Idempotent.</summary>
    public void Dispose()
    {
        _isDisposed = true;
        _encoded.Release();
    }
}

/// <summary>A builder for one message, returned at the end of its scope.</summary>
internal readonly ref struct RentedBuilder()
{
    public MessageBuilder Message { get; } = BuilderCache.Rent();

    public void Dispose() => BuilderCache.Return(Message);
}

internal static class BuilderCache
{
    // As many threads rarely send at once; a builder holds 256 bytes or more.
    private const int MaxKept = 64;

    private static readonly ObjectCache<MessageBuilder> Cache = new(MaxKept);

    public static MessageBuilder Rent() => Cache.Rent();

    public static void Return(MessageBuilder builder)
    {
        builder.Clear();
        if (!Cache.Return(builder))
        {
            builder.Dispose();
        }
    }

    public static ValueTask ReturnWhenSent(ValueTask sending, MessageBuilder message)
    {
        if (!sending.IsCompletedSuccessfully)
        {
            return AwaitAsync(sending, message);
        }

        Return(message);
        return sending;
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
    private static async ValueTask AwaitAsync(ValueTask sending, MessageBuilder message)
    {
        try
        {
            await sending.ConfigureAwait(false);
        }
        finally
        {
            Return(message);
        }
    }
}
