using Net.Zlink.Buffers;
using Xunit;

namespace Net.Zlink.Tests.Buffers;

public sealed class SizeClassesTests
{
    [Fact]
    public void Size_classes_are_66_sizes_in_eight_runs_of_equal_steps()
    {
        List<int> expected = [];
        (int First, int Last, int Step)[] runs =
        [
            (128, 1_024, 128), (2_048, 8_192, 1_024), (12_288, 65_536, 4_096), (81_920, 311_296, 16_384), (376_832, 901_120, 65_536),
            (1_163_264, 2_211_840, 262_144), (2_736_128, 4_308_992, 524_288), (5_357_568, 8_503_296, 1_048_576),
        ];
        foreach ((int first, int last, int step) in runs)
        {
            for (int size = first; size <= last; size += step)
            {
                expected.Add(size);
            }
        }

        Assert.Equal(66, expected.Count);
        Assert.Equal(expected, BufferPool.ClassSizes.ToArray());
        Assert.Equal(SizeClasses.Count, expected.Count);
        Assert.Equal(SizeClasses.LargestSize, expected[^1]);
    }

    [Fact]
    public void Every_length_finds_the_smallest_class_that_holds_it()
    {
        int expected = 0;
        for (int length = 0; length <= SizeClasses.LargestSize; length++)
        {
            if (length > SizeClasses.Sizes[expected])
            {
                expected++;
            }

            if (SizeClasses.IndexOf(length) != expected)
            {
                Assert.Fail($"{length} bytes went to class {SizeClasses.IndexOf(length)} instead of {expected}.");
            }
        }
    }
}
