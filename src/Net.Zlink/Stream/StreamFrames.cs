using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Protocol.Stream;
using Net.Zlink.Sockets;

namespace Net.Zlink;

/// <summary>
/// The whole frames of one read of one peer, in order. Valid until the handler's ValueTask completes; copy what you keep.
/// </summary>
public readonly struct StreamFrames
{
    private readonly Slab? _slab;
    private readonly int _offset;
    private readonly int _length;

    internal StreamFrames(Slab slab, int offset, int length, int count)
    {
        _slab = slab;
        _offset = offset;
        _length = length;
        Count = count;
    }

    /// <summary>Creates frames for a unit test of a <see cref="StreamHandler"/>.</summary>
    /// <param name="payloads">At least one payload, which is copied. It may be empty.</param>
    /// <returns>The frames, valid while they are referenced.</returns>
    /// <exception cref="ArgumentException">There is no payload, or all together exceed an array.</exception>
    public static StreamFrames Create(params ReadOnlySpan<ReadOnlyMemory<byte>> payloads)
    {
        long length = 0;
        foreach (ReadOnlyMemory<byte> payload in payloads)
        {
            length += StreamFraming.HeaderSize + payload.Length;
        }

        if (length == 0 || length > Array.MaxLength)
        {
            throw new ArgumentException("Pass at least one payload; all payloads together must fit an array.", nameof(payloads));
        }

        // The first reference is never released, so the array never enters the pool.
        Slab slab = new Slab.SlabCache(BufferPool.Shared).Adopt(new byte[length]);
        int position = 0;
        foreach (ReadOnlyMemory<byte> payload in payloads)
        {
            StreamFraming.WriteFrame(slab.Array.AsSpan(position), payload.Span);
            position += StreamFraming.HeaderSize + payload.Length;
        }

        return new StreamFrames(slab, 0, position, payloads.Length);
    }

    /// <summary>The number of frames, at least 1.</summary>
    public int Count { get; }

    /// <summary>The bytes of all payloads.</summary>
    public long PayloadBytes => _length - ((long)Count * StreamFraming.HeaderSize);

    /// <summary>Enumerates the payloads in order. Payloads may be empty.</summary>
    /// <returns>An enumerator that allocates nothing.</returns>
    public Enumerator GetEnumerator() => new(_slab?.Array ?? [], _offset, _length);

    internal SendStatus TrySendTo(StreamLink link) => link.TrySend(_slab!, _offset, _length, Count);

    /// <summary>Enumerates the payloads of a <see cref="StreamFrames"/>.</summary>
    public struct Enumerator
    {
        private readonly byte[] _array;
        private readonly int _end;
        private int _next;
        private int _start;
        private int _length;

        internal Enumerator(byte[] array, int offset, int length)
        {
            _array = array;
            _next = offset;
            _end = offset + length;
        }

        /// <summary>The current payload.</summary>
        public readonly ReadOnlyMemory<byte> Current => new(_array, _start, _length);

        /// <summary>Moves to the next payload.</summary>
        /// <returns>False after the last one.</returns>
        public bool MoveNext()
        {
            if (_next >= _end)
            {
                return false;
            }

            _length = StreamFraming.ReadLength(_array.AsSpan(_next));
            _start = _next + StreamFraming.HeaderSize;
            _next = _start + _length;
            return true;
        }
    }
}
