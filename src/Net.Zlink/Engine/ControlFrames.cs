using Net.Zlink.Buffers;

namespace Net.Zlink.Engine;

/// <summary>Protocol frames that wait to be written before all messages, in one growing segment. Not thread-safe.</summary>
internal struct ControlFrames
{
    // Answers to control frames that a peer asks for and does not read. A heartbeat's answer is at most 26 bytes: 64 KiB of them is a peer that floods.
    private const int MaxBytes = 64 * 1024;

    private OutboundSegment? _segment;

    public readonly bool IsEmpty => _segment is null;

    /// <summary>Adds whole frames. False if too many wait already.</summary>
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

    /// <summary>Takes them out to be written, or to be released.</summary>
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
