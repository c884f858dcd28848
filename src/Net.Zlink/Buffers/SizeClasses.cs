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

    private const int SmallStep = 128;
    private const int LargestSmall = 65_536;

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

    // Classes of the lengths up to 128, 256, ... 65,536 bytes.
    private static readonly byte[] SmallClasses =
        [.. Enumerable.Range(1, LargestSmall / SmallStep).Select(static steps => (byte)SearchFor(steps * SmallStep))];

    internal static ReadOnlySpan<int> Sizes => Table;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static int IndexOf(int length) =>
        length <= LargestSmall ? SmallClasses[(Math.Max(length, 1) - 1) / SmallStep] : SearchFor(length);

    // 10 ns, little beside filling so large a buffer.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static int SearchFor(int length)
    {
        int found = Array.BinarySearch(Table, length);
        return found < 0 ? ~found : found;
    }
}
