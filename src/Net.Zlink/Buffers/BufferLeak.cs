using System.Globalization;

namespace Net.Zlink.Buffers;

/// <summary>
/// A buffer in use, as <see cref="BufferPool.GetOutstanding"/> reports it with <see cref="BufferPoolOptions.LeakCheck"/>.
/// </summary>
public sealed class BufferLeak
{
    internal BufferLeak()
    {
    }

    /// <summary>Its length in bytes: the class size, or the exact size above the largest class.</summary>
    public int Length { get; internal init; }

    /// <summary>When it was rented, by the pool's clock.</summary>
    public DateTimeOffset RentedAt { get; internal init; }

    /// <summary>The managed id of the thread that rented it.</summary>
    public int ThreadId { get; internal init; }

    /// <summary>The stack of the call that rented it, one frame per line.</summary>
    public string RentedBy { get; internal init; } = "";

    /// <summary>Describes the buffer for a log. The format may change.</summary>
    /// <returns>One line, and one for each frame of the stack.</returns>
    public override string ToString() =>
        string.Create(CultureInfo.InvariantCulture, $"{Length} bytes, rented at {RentedAt:O} by thread {ThreadId}:\n{RentedBy}");
}
