using System.Diagnostics;
using System.Runtime.CompilerServices;
using Net.Zlink.Flow;

namespace Net.Zlink.Buffers;

/// <summary>
/// Knows of every buffer whether it is out, and fills returned ones with a pattern that must still be there at the next rent. Thread-safe.
/// With <c>captureStacks</c> it also remembers who rented and who returned.
/// </summary>
internal sealed class BufferLedger(TimeProvider time, bool captureStacks)
{
    /// <summary>Easy to recognise in a dump, no plausible length and no text.</summary>
    internal const byte Poison = 0xDD;

    // CaptureStack, OnRented or OnReturned, and the pool's slow path: what the reader of a trace does not look for. None of them may be
    // inlined: the frames that are skipped would then be the culprit's.
    private const int PoolFrames = 3;

    private readonly Lock _gate = new();

    // Weak keys: buffers that were returned and dropped are forgotten. Those that are out are held, or a lost one could not be named.
    private readonly ConditionalWeakTable<byte[], Entry> _known = [];
    private readonly Dictionary<byte[], Entry> _outstanding = [];

    /// <summary>Notes a rent.</summary>
    /// <exception cref="InvalidOperationException">Someone wrote to the buffer after its return.</exception>
    [MethodImpl(MethodImplOptions.NoInlining)]
    internal void OnRented(byte[] array)
    {
        StackTrace? stack = CaptureStack();
        DateTimeOffset now = captureStacks ? time.GetUtcNow() : default;
        Entry entry;
        StackTrace? lastRentedBy;
        using (_gate.EnterScope())
        {
            entry = _known.GetOrAdd(array, static _ => new Entry());
            if (!_outstanding.TryAdd(array, entry))
            {
                throw new InvalidOperationException($"A buffer of {array.Length} bytes was about to go out twice: a defect of the pool.");
            }

            lastRentedBy = entry.RentedBy;
            entry.RentedBy = stack;
            entry.RentedAt = now;
            entry.ThreadId = Environment.CurrentManagedThreadId;
        }

        int spoilt = entry.Poisoned ? array.AsSpan().IndexOfAnyExcept(Poison) : -1;
        if (spoilt >= 0)
        {
            using (_gate.EnterScope())
            {
                _outstanding.Remove(array);
            }

            throw new InvalidOperationException(
                $"A buffer of {array.Length} bytes was written to after it was returned (first changed byte: {spoilt})."
                + DescribeWithStack("It had been rented", lastRentedBy) + DescribeWithStack("It had been returned", entry.ReturnedBy));
        }
    }

    /// <summary>Notes a return and fills the buffer with <see cref="Poison"/>.</summary>
    /// <exception cref="InvalidOperationException">The buffer is not out: it was returned before, or never rented here.</exception>
    [MethodImpl(MethodImplOptions.NoInlining)]
    internal void OnReturned(byte[] array)
    {
        StackTrace? stack = CaptureStack();
        using (_gate.EnterScope())
        {
            if (!_outstanding.Remove(array, out Entry? entry))
            {
                throw new InvalidOperationException(_known.TryGetValue(array, out Entry? known)
                    ? $"A buffer of {array.Length} bytes was returned twice."
                        + DescribeWithStack("It had been rented", known.RentedBy) + DescribeWithStack("It was first returned", known.ReturnedBy)
                    : $"A buffer of {array.Length} bytes was returned to a pool that had not rented it out.");
            }

            // Under the gate, so that a second return at the same time can't begin before the first one is noted.
            entry.ReturnedBy = stack;
            entry.Poisoned = true;
        }

        array.AsSpan().Fill(Poison);
    }

    internal BufferLeak[] GetOutstanding()
    {
        (int Length, DateTimeOffset RentedAt, int ThreadId, StackTrace? RentedBy)[] found;
        using (_gate.EnterScope())
        {
            found = [.. _outstanding.Select(static pair => (pair.Key.Length, pair.Value.RentedAt, pair.Value.ThreadId, pair.Value.RentedBy))];
        }

        // Stacks take their time to be put into words: under the gate, 3,400 of them, asked for again and again, held up who returned these buffers for as long as it was asked (20 s).
        return [.. found.Select(static one => new BufferLeak(one.Length, one.RentedAt, one.ThreadId, one.RentedBy?.ToString() ?? string.Empty))];
    }

    private static string DescribeWithStack(string what, StackTrace? stack) =>
        stack is null ? string.Empty : $"{Environment.NewLine}{what}:{Environment.NewLine}{stack}";

    [MethodImpl(MethodImplOptions.NoInlining)]
    private StackTrace? CaptureStack() => captureStacks ? new StackTrace(skipFrames: PoolFrames, fNeedFileInfo: false) : null; // Names are enough to find who rented; looking up lines took a third of the time of a run with the check on.

    private sealed class Entry
    {
        internal StackTrace? RentedBy;
        internal StackTrace? ReturnedBy;
        internal DateTimeOffset RentedAt;
        internal int ThreadId;
        internal bool Poisoned;
    }
}
