using System.Runtime.CompilerServices;

namespace Net.Zlink.Buffers;

/// <summary>
/// 66 sizes in runs of equal steps. From 256 bytes a step is at most half of the size it leads to, from 81,920 a quarter: little waste, few
/// classes.
/// </summary>
internal static class SizeClasses
{
    internal const int Count = 66;

    /// <summary>
    /// Fits a message of 8 MiB. Fresh pages for each message of 1 MiB cost two fifths of the rate over tcp (docs/benchmarks/log.md,
    /// "Messages of 1 MiB").
    /// </summary>
    internal const int LargestSize = 8_503_296;

    private const int End128 = 1_024;
    private const int End1K = 8_192;
    private const int End4K = 65_536;
    private const int End16K = 311_296;
    private const int End64K = 901_120;
    private const int End256K = 2_211_840;
    private const int End512K = 4_308_992;
    private const int First1K = 8;
    private const int First4K = 15;
    private const int First16K = 29;
    private const int First64K = 44;
    private const int First256K = 53;
    private const int First512K = 58;
    private const int First1M = 62;

    // Not a constant span: unoptimized code allocates 72 bytes per access, which would hide real allocations in Debug tests.
    private static readonly int[] Table =
    [
        128, 256, 384, 512, 640, 768, 896, 1_024,
        2_048, 3_072, 4_096, 5_120, 6_144, 7_168, 8_192,
        12_288, 16_384, 20_480, 24_576, 28_672, 32_768, 36_864, 40_960, 45_056, 49_152, 53_248, 57_344, 61_440, 65_536,
        81_920, 98_304, 114_688, 131_072, 147_456, 163_840, 180_224, 196_608, 212_992, 229_376,
        245_760, 262_144, 278_528, 294_912, 311_296,
        376_832, 442_368, 507_904, 573_440, 638_976, 704_512, 770_048, 835_584, 901_120,
        1_163_264, 1_425_408, 1_687_552, 1_949_696, 2_211_840,
        2_736_128, 3_260_416, 3_784_704, 4_308_992,
        5_357_568, 6_406_144, 7_454_720, 8_503_296,
    ];

    internal static ReadOnlySpan<int> Sizes => Table;

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

        if (last >= End64K)
        {
            return LargeIndexOf(last);
        }

        return last < End16K ? First16K + ((last - End4K) >> 14) : First64K + ((last - End16K) >> 16);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static int LargeIndexOf(int last) =>
        last < End256K ? First256K + ((last - End64K) >> 18)
        : last < End512K ? First512K + ((last - End256K) >> 19)
        : First1M + ((last - End512K) >> 20);
}
