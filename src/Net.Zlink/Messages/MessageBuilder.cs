using System.Buffers;
using Net.Zlink.Buffers;
using Net.Zlink.Engine;

namespace Net.Zlink;

/// <summary>Puts a message of several parts together, which is then sent whole or not at all. Reusable: an accepted send leaves it empty.</summary>
/// <remarks>Not thread-safe, and not to be touched while an asynchronous send of it waits: that send then throws InvalidOperationException, and nothing of it was sent. Its memory is pooled: dispose it.</remarks>
public sealed class MessageBuilder : IDisposable
{
    private readonly EncodedMessage _encoded;
    private bool _isDisposed;

    /// <summary>An empty message, with memory from the shared pool.</summary>
    public MessageBuilder()
        : this(BufferPool.Shared)
    {
    }

    /// <summary>An empty message.</summary>
    /// <param name="pool">Where memory comes from; with a socket's own context's pool, long messages are handed over without a copy.</param>
    /// <exception cref="ArgumentNullException"><paramref name="pool"/> is null.</exception>
    public MessageBuilder(BufferPool pool)
    {
        ArgumentNullException.ThrowIfNull(pool);
        _encoded = new EncodedMessage(pool);
    }

    /// <summary>Number of parts so far.</summary>
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
    internal EncodedMessage Encoded
    {
        get
        {
            ObjectDisposedException.ThrowIf(_isDisposed, this);
            return _encoded;
        }
    }

    /// <summary>Adds a part; copies it.</summary>
    /// <param name="part">Any bytes, also none; a null array is taken for none.</param>
    /// <returns>This builder.</returns>
    /// <exception cref="ObjectDisposedException">The builder is disposed.</exception>
    /// <exception cref="ArgumentException">All copied parts together would be longer than a .NET array.</exception>
    public MessageBuilder Add(ReadOnlySpan<byte> part)
    {
        ObjectDisposedException.ThrowIf(_isDisposed, this);
        _encoded.Add(part);
        return this;
    }

    /// <summary>Adds a text as a part, in UTF-8.</summary>
    /// <param name="text">The text.</param>
    /// <returns>This builder.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="text"/> is null.</exception>
    /// <exception cref="ObjectDisposedException">The builder is disposed.</exception>
    /// <exception cref="ArgumentException">All copied parts together would be longer than a .NET array.</exception>
    public MessageBuilder Add(string text)
    {
        ArgumentNullException.ThrowIfNull(text);
        System.Text.Encoding.UTF8.GetBytes(text, AddSpace(System.Text.Encoding.UTF8.GetByteCount(text)));
        return this;
    }

    /// <summary>Adds a part that is handed over: a long one goes without a copy and is disposed when it was sent, or with the builder; below 16 KiB it is copied and disposed at once.</summary>
    /// <param name="owner">Its owner.</param>
    /// <param name="length">How many of its bytes are the part.</param>
    /// <returns>This builder.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="owner"/> is null.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The memory has fewer bytes.</exception>
    /// <exception cref="ObjectDisposedException">The builder is disposed.</exception>
    public MessageBuilder Add(IMemoryOwner<byte> owner, int length)
    {
        ArgumentNullException.ThrowIfNull(owner);
        ObjectDisposedException.ThrowIf(_isDisposed, this);
        ArgumentOutOfRangeException.ThrowIfNegative(length);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(length, owner.Memory.Length);
        _encoded.Add(owner, length);
        return this;
    }

    /// <summary>Adds a part of that many bytes, for the caller to fill before the next call.</summary>
    /// <param name="length">How many.</param>
    /// <returns>The part's bytes, of any content.</returns>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="length"/> is negative.</exception>
    /// <exception cref="ObjectDisposedException">The builder is disposed.</exception>
    public Span<byte> AddSpace(int length)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(length);
        ObjectDisposedException.ThrowIf(_isDisposed, this);
        return _encoded.AddSpace(length);
    }

    /// <summary>Forgets all parts; disposes memory that was handed over.</summary>
    public void Clear() => _encoded.Clear();

    /// <summary>Gives the memory back. Idempotent.</summary>
    public void Dispose()
    {
        _isDisposed = true;
        _encoded.Release();
    }
}
