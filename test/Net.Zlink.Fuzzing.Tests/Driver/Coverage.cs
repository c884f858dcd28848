using System.Runtime.InteropServices;
using SharpFuzz.Common;

namespace Net.Zlink.Fuzzing;

/// <summary>How often each edge of the instrumented code was passed, in classes: 1, 2, 3, 4, 8, 16, 32, 128 times and more.</summary>
internal sealed unsafe class Coverage
{
    public const int Size = 1 << 16;

    private readonly byte* _hits = (byte*)NativeMemory.AllocZeroed(Size);

    private Span<byte> Hits => new(_hits, Size);

    /// <summary>Instrumented code needs one before its first call, and for the life of the process.</summary>
    public static Coverage OfInstrumentedCode()
    {
        var coverage = new Coverage();
        Trace.SharedMem = coverage._hits;
        return coverage;
    }

    public void Clear()
    {
        Hits.Clear();
        Trace.PrevLocation = 0;
    }

    /// <summary>What a target's code itself has reached.</summary>
    public void Mark(int edge) => _hits[(ushort)(edge * 0x9E37)]++;

    /// <summary>Counts the classes that <paramref name="seen"/> does not have, or the edges alone.</summary>
    public int CountNew(byte[] seen, bool add = false, bool edgesOnly = false)
    {
        int count = 0;
        Span<byte> hits = Hits;
        for (int at = 0; at < Size && hits[at..].IndexOfAnyExcept((byte)0) is >= 0 and int next; at++)
        {
            at += next;
            byte bucket = (byte)(edgesOnly ? 1 : hits[at] switch
            {
                <= 2 => hits[at],
                3 => 4,
                <= 7 => 8,
                <= 15 => 16,
                <= 31 => 32,
                <= 127 => 64,
                _ => 128,
            });
            count += (seen[at] & bucket) == 0 ? 1 : 0;
            seen[at] |= add ? bucket : (byte)0;
        }

        return count;
    }
}
