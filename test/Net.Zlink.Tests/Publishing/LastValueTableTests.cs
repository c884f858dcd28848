using System.Text;
using FsCheck.Fluent;
using Xunit;

namespace Net.Zlink.Tests.Publishing;

/// <summary>The stored values beside a sorted dictionary.</summary>
public sealed class LastValueTableTests
{
    private const int MaxTopics = 6;
    private const int MaxBytes = 500;

    [Fact]
    public void Values_limits_and_prefixes_are_those_of_a_sorted_dictionary() =>
        FsCheck.Check.QuickThrowOnFailure(Prop.ForAll(
            Gen.Choose(0, 8 * 5 - 1).Zip(Gen.Choose(0, 120)).ListOf().ToArbitrary(), static steps => Compare(steps)));

    private static void Compare(IEnumerable<(int Step, int Length)> steps)
    {
        string[] topics = ["", "a", "ab", "abc", "b", "ba", "c", "é"];
        var table = new LastValueTable(MaxTopics, MaxBytes);
        var model = new SortedDictionary<string, byte[]>(StringComparer.Ordinal);
        foreach ((int step, int length) in steps)
        {
            string topic = topics[step % topics.Length];
            byte[] bytes = Encoding.UTF8.GetBytes(topic);
            if (step / topics.Length == 0)
            {
                Assert.Equal(model.Remove(topic), table.Remove(bytes));
            }
            else
            {
                byte[] value = new byte[length];
                Array.Fill(value, (byte)step);
                Dictionary<string, byte[]> after = new(model, StringComparer.Ordinal) { [topic] = value };
                bool fits = after.Count <= MaxTopics && (Size(after) <= MaxBytes || Size(after) <= Size(model));
                Assert.Equal(fits, table.TrySet(bytes, value));
                if (fits)
                {
                    model[topic] = value;
                }
            }

            Assert.Equal((model.Count, Size(model)), (table.Count, table.Bytes));
        }

        foreach (string prefix in topics)
        {
            byte[] bytes = Encoding.UTF8.GetBytes(prefix);
            var found = new List<string>();
            for (int i = table.LowerBound(bytes); i < table.Count && table.TopicAt(i).StartsWith(bytes); i++)
            {
                found.Add(Encoding.UTF8.GetString(table.TopicAt(i)));
                Assert.Equal(model[found[^1]], table.ValueAt(i));
            }

            Assert.Equal(model.Keys.Where(topic => topic.StartsWith(prefix, StringComparison.Ordinal)), found, StringComparer.Ordinal);
        }
    }

    private static long Size(IDictionary<string, byte[]> values) =>
        values.Sum(static pair => Encoding.UTF8.GetByteCount(pair.Key) + pair.Value.Length + 64L);
}
