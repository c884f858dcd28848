using System.Diagnostics;
using System.Globalization;
using System.Runtime.CompilerServices;

namespace Net.Zlink.Buffers;

/// <summary>
/// Records which buffers are in use, and fills returned ones with a pattern that must be intact at the next rent. Thread-safe.
/// </summary>
internal sealed class BufferLedger(TimeProvider time, bool captureStacks)
{
    internal const byte Poison = 0xDD;

    // CaptureStack, OnRented or OnReturned, and the pool's own method: none may be inlined, or frames of the caller would be skipped.
    private const int PoolFrames = 3;

    private readonly Lock _gate = new();

    // Weak keys for returned buffers; buffers in use are referenced, so that a leak can be named.
    private readonly ConditionalWeakTable<byte[], Entry> _known = [];
    private readonly Dictionary<byte[], Entry> _outstanding = [];

    [MethodImpl(MethodImplOptions.NoInlining)]
    internal void OnRented(byte[] array)
    {
        StackTrace? stack = CaptureStack();
        DateTimeOffset now = captureStacks ? time.GetUtcNow() : default;
        Entry entry;
        StackTrace? lastRentedBy;
        lock (_gate)
        {
            entry = _known.GetOrAdd(array, static _ => new Entry());
            if (!_outstanding.TryAdd(array, entry))
            {
                throw new InvalidOperationException(
                    $"A buffer of {array.Length} bytes was about to be rented twice. This is a defect of the pool: please report it.");
            }

            lastRentedBy = entry.RentedBy;
            entry.RentedBy = stack;
            entry.RentedAt = now;
            entry.ThreadId = Environment.CurrentManagedThreadId;
        }

        int spoilt = entry.Poisoned ? array.AsSpan().IndexOfAnyExcept(Poison) : -1;
        if (spoilt >= 0)
        {
            lock (_gate)
            {
                _outstanding.Remove(array);
            }

            throw new InvalidOperationException(
                $"A buffer of {array.Length} bytes was written to after it was returned (first changed byte: {spoilt})."
                + DescribeWithStack("It had been rented", lastRentedBy) + DescribeWithStack("It had been returned", entry.ReturnedBy));
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    internal void OnReturned(byte[] array)
    {
        StackTrace? stack = CaptureStack();
        lock (_gate)
        {
            if (!_outstanding.Remove(array, out Entry? entry))
            {
                throw new InvalidOperationException(_known.TryGetValue(array, out Entry? known)
                    ? $"A buffer of {array.Length} bytes was returned twice."
                        + DescribeWithStack("It had been rented", known.RentedBy)
                        + DescribeWithStack("It was first returned", known.ReturnedBy)
                    : $"A buffer of {array.Length} bytes was returned to a pool that had not rented it out.");
            }

            entry.ReturnedBy = stack;
            entry.Poisoned = true;
        }

        array.AsSpan().Fill(Poison);
    }

    /// <summary>Empty unless stacks are captured.</summary>
    internal BufferLeak[] GetOutstanding()
    {
        if (!captureStacks)
        {
            return [];
        }

        (int Length, DateTimeOffset RentedAt, int ThreadId, StackTrace? RentedBy)[] found;
        lock (_gate)
        {
            found = [.. _outstanding.Select(
                static pair => (pair.Key.Length, pair.Value.RentedAt, pair.Value.ThreadId, pair.Value.RentedBy))];
        }

        // Stacks are formatted outside the lock: 3,400 of them, again and again, blocked returns for 20 s.
        return [.. found.Select(static one => new BufferLeak
        {
            Length = one.Length,
            RentedAt = one.RentedAt,
            ThreadId = one.ThreadId,
            RentedBy = one.RentedBy?.ToString() ?? "",
        })];
    }

    private static string DescribeWithStack(string what, StackTrace? stack) =>
        stack is null ? string.Empty : $"{Environment.NewLine}{what}:{Environment.NewLine}{stack}";

    // Method names suffice: file and line look-ups took a third of a checked run.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private StackTrace? CaptureStack() => captureStacks ? new StackTrace(skipFrames: PoolFrames, fNeedFileInfo: false) : null;

    private sealed class Entry
    {
        internal StackTrace? RentedBy;
        internal StackTrace? ReturnedBy;
        internal DateTimeOffset RentedAt;
        internal int ThreadId;
        internal bool Poisoned;
    }
}

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
