using Xunit;

namespace Net.Zlink.Fuzzing;

public sealed class CorpusTests
{
    public static TheoryData<string> Targets => [.. FuzzTarget.Names];

    [Theory]
    [MemberData(nameof(Targets))]
    public void Every_saved_input_of_a_target_is_taken_or_refused_as_it_must(string name)
    {
        using FuzzTarget target = FuzzTarget.Create(name);
        List<byte[]> saved = Corpus.Load(name);
        Assert.InRange(saved.Count, 1, 200);
        foreach (byte[] input in (IEnumerable<byte[]>)[.. target.Seeds, .. saved])
        {
            try
            {
                target.Run(input);
            }
            catch (Exception failure)
            {
                throw new InvalidOperationException($"The target {name} fails with {Convert.ToBase64String(input)}.", failure);
            }
        }
    }
}
