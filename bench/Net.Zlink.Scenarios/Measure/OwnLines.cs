using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Net.Zlink.Scenarios.Measure;

/// <summary>Memory of one thread of a measurement, on cache lines that hold nothing else.</summary>
/// <remarks>
/// What is to be sent, and where messages are received to, lay side by side once: in six of ten places where the collector may put them
/// they shared a line, which the sender read and the receiver wrote for each message.
/// 64 bytes within the process went at 20 instead of 35 million a second then (docs/benchmarks/log.md, "A line of the benchmark's own").
/// Also the length of an array is on a line, so this is reached without it.
/// </remarks>
internal readonly unsafe struct OwnLines<T>
    where T : unmanaged
{
    // Two lines, since processors fetch them in pairs.
    private const int Alignment = 128;

    private readonly byte[] _pinned;
    private readonly T* _first;

    /// <param name="length">How many values.</param>
    public OwnLines(int length)
    {
        Length = length;
        _pinned = GC.AllocateArray<byte>((length * sizeof(T)) + (2 * Alignment), pinned: true);
        var start = (nint)Unsafe.AsPointer(ref MemoryMarshal.GetArrayDataReference(_pinned));
        _first = (T*)((start + Alignment - 1) / Alignment * Alignment);
    }

    public int Length { get; }

    /// <summary>All of them.</summary>
    public Span<T> Span => new(_first, Length);

    /// <summary>The first one, or the only one.</summary>
    public ref T First => ref *_first;
}
