using System.Runtime.CompilerServices;

namespace Net.Zlink.Buffers;

/// <summary>
/// The 53 sizes that the pool keeps, in five runs of equal steps. A step is at most half of the size it leads to from 256 bytes on (and at
/// most a fifth from 81,920 on), so that little of a buffer is wasted, while the number of classes stays small enough to warm each of them.
/// </summary>
internal static class SizeClasses
{
    /// <summary>8 + 7 + 14 + 15 + 9.</summary>
    internal const int Count = 53;

    /// <summary>
    /// Larger requests are allocated exactly and not kept: below this size a page-touched buffer is reused, above it copying the payload
    /// dwarfs the allocation.
    /// </summary>
    internal const int Largest = 901_120;

    // Where each run ends, and the index of its first class. The steps are powers of two, so the lookup is a subtraction and a shift.
    private const int End128 = 1_024;
    private const int End1K = 8_192;
    private const int End4K = 65_536;
    private const int End16K = 311_296;
    private const int First1K = 8;
    private const int First4K = 15;
    private const int First16K = 29;
    private const int First64K = 44;

    // An array and not a constant span: unoptimized code allocates 72 bytes each time it reads one of those, which would hide real
    // allocations in Debug tests.
    private static readonly int[] Table =
    [
        128, 256, 384, 512, 640, 768, 896, 1_024,
        2_048, 3_072, 4_096, 5_120, 6_144, 7_168, 8_192,
        12_288, 16_384, 20_480, 24_576, 28_672, 32_768, 36_864, 40_960, 45_056, 49_152, 53_248, 57_344, 61_440, 65_536,
        81_920, 98_304, 114_688, 131_072, 147_456, 163_840, 180_224, 196_608, 212_992, 229_376, 245_760, 262_144, 278_528, 294_912, 311_296,
        376_832, 442_368, 507_904, 573_440, 638_976, 704_512, 770_048, 835_584, 901_120,
    ];

    /// <summary>The sizes in bytes, ascending.</summary>
    internal static ReadOnlySpan<int> Sizes => Table;

    /// <summary>
    /// The smallest class that holds <paramref name="length"/> bytes. The caller has checked 0 &lt;= length &lt;= <see cref="Largest"/>;
    /// 0 asks for the smallest class.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static int IndexOf(int length)
    {
        int last = Math.Max(length, 1) - 1;
        if (last < End128)
        {
            return last >> 7;
        }

        if (last < End1K)
        {
            return First1K + ((last - End128) >> 10);
        }

        if (last < End4K)
        {
            return First4K + ((last - End1K) >> 12);
        }

        return last < End16K ? First16K + ((last - End4K) >> 14) : First64K + ((last - End16K) >> 16);
    }
}
