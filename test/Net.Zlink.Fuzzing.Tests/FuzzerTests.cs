using Xunit;

namespace Net.Zlink.Fuzzing;

/// <summary>The fuzzer itself, with a target that has a fault behind three compares.</summary>
public sealed class FuzzerTests
{
    [Fact]
    public void A_fault_behind_three_compares_is_found_step_by_step_and_its_input_is_shortened()
    {
        var coverage = new Coverage();
        using var target = new Locked(coverage);
        var fuzzer = new Fuzzer(target, coverage, seed: 1);
        (byte[] Input, Exception Failure)? found = fuzzer.Run(target.Seeds, () => fuzzer.Executions > 1_000_000);
        Assert.Equal("ZMP"u8, found!.Value.Input);
        Assert.IsType<FormatException>(found.Value.Failure);
        Assert.Equal(3, fuzzer.Edges);
    }

    [Fact]
    public void The_fewest_inputs_that_reach_all_edges_are_left()
    {
        var coverage = new Coverage();
        using var target = new Locked(coverage);
        var fuzzer = new Fuzzer(target, coverage, seed: 1);
        fuzzer.Run([[], "Z"u8.ToArray(), "ZZ"u8.ToArray(), "ZM"u8.ToArray()], static () => true);
        Assert.Equal([[], "Z"u8.ToArray(), "ZM"u8.ToArray()], fuzzer.Distill());
    }

    private sealed class Locked(Coverage coverage) : FuzzTarget
    {
        public override IEnumerable<byte[]> Seeds => ["begin"u8.ToArray()];

        protected override void Try(byte[] input)
        {
            int open = input.AsSpan().CommonPrefixLength("ZMP"u8);
            for (int edge = 0; edge <= open; edge++)
            {
                coverage.Mark(edge);
            }

            if (open == 3)
            {
                throw new FormatException();
            }
        }
    }
}
