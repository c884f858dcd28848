using Net.Zlink.Buffers;

namespace Net.Zlink.Engine;

/// <summary>Protocol frames to be written before all messages, in one growing segment.</summary>
internal struct ControlFrames
{
    // A heartbeat's reply is at most 26 bytes: 64 KiB of them is a flood.
    private const int MaxBytes = 64 * 1024;

    private OutboundSegment? _segment;

    public readonly bool IsEmpty => _segment is null;

    public bool TryAdd(ReadOnlySpan<byte> frames, BufferPool pool)
    {
        int held = _segment?.Length ?? 0;
        if (held + frames.Length > MaxBytes)
        {
            return false;
        }

        if (_segment is null || held + frames.Length > _segment.Memory.Length)
        {
            OutboundSegment larger = OutboundSegment.ForEncoding(pool.RentArray(held + frames.Length));
            larger.IsControl = true;
            if (_segment is { } old)
            {
                old.Memory.Span[..held].CopyTo(larger.FreeSpan);
                larger.Length = held;
                old.Release(pool);
            }

            _segment = larger;
        }

        frames.CopyTo(_segment.FreeSpan);
        _segment.Length += frames.Length;
        return true;
    }

    public OutboundSegment? Dequeue()
    {
        OutboundSegment? segment = _segment;
        _segment = null;
        if (segment is not null)
        {
            segment.IsOpen = false;
        }

        return segment;
    }
}
