using System.Buffers.Binary;
using FsCheck;
using FsCheck.Fluent;
using Net.Zlink.Buffers;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Buffers;

/// <summary>Random sequences of rents, returns and trims on one thread against a model that only counts.</summary>
public sealed class BufferPoolModelTests
{
    // Classes with several stacks, the largest of those, four with one, and one length beyond the largest class.
    private static readonly int[] Sizes = [128, 1_024, 65_536, 131_072, 278_528, 901_120, 2_211_840, Oversize];

    private const int Oversize = 8_503_297;

    [Fact]
    public void Any_sequence_of_rents_returns_and_trims_behaves_like_the_model()
    {
        Gen<Step> step = from kind in Gen.Choose(0, 19)
                         from size in Gen.Elements(Sizes)
                         from pick in Gen.Choose(0, 1_000)
                         from count in Gen.Choose(1, 40)
                         select new Step(kind, size, pick, count);
        Gen<Sequence> sequences = from keep in Gen.Elements(0, 1, 2, 3, 4, 7, 8, 20, 33, 64, 130)
                                  from warm in Gen.Choose(0, Math.Min(keep, 5))
                                  from steps in step.ArrayOf()
                                  select new Sequence(warm, keep, steps);
        Prop.ForAll(Arb.From(sequences, Shorter), Run)
            .Check(Config.QuickThrowOnFailure.WithMaxTest(SlowTests.Rounds(40, all: 150)).WithEndSize(60));
    }

    // Halves first, then each single step left out: what FsCheck tries when it has found a failing sequence.
    private static IEnumerable<Sequence> Shorter(Sequence sequence)
    {
        int count = sequence.Steps.Length;
        if (count > 1)
        {
            yield return sequence with { Steps = sequence.Steps[..(count / 2)] };
            yield return sequence with { Steps = sequence.Steps[(count / 2)..] };
            for (int index = 0; index < count; index++)
            {
                yield return sequence with { Steps = [.. sequence.Steps[..index], .. sequence.Steps[(index + 1)..]] };
            }
        }
    }

    private static void Run(Sequence sequence)
    {
        (int warm, int keep, Step[] steps) = sequence;
        using BufferPool pool = TestPools.Create(warm: warm, keep: keep);
        Dictionary<int, Model> models = Sizes.ToDictionary(
            static size => size,
            size => new Model(size <= TestPools.LargestWarmed ? warm : 0, size < Oversize ? keep : 0));
        List<(byte[] Array, long Stamp)> held = [];
        long nextStamp = 0;
        foreach (Step step in steps)
        {
            if (step.Kind == 0)
            {
                pool.Trim();
                foreach (Model model in models.Values)
                {
                    model.Trim();
                }
            }
            else if (step.Kind < 10)
            {
                // One at a time of the longest ones: each is filled at its return.
                for (int count = 0; count < (step.Size > TestPools.LargestWarmed ? 1 : step.Count); count++)
                {
                    byte[] array = pool.RentArray(step.Size);
                    models[step.Size].Rent();
                    Assert.DoesNotContain(held, one => ReferenceEquals(one.Array, array));
                    Stamp(array, ++nextStamp);
                    held.Add((array, nextStamp));
                }
            }
            else
            {
                for (int count = 0; count < step.Count && held.Count > 0; count++)
                {
                    int index = step.Pick % held.Count;
                    (byte[] array, long stamp) = held[index];
                    held.RemoveAt(index);
                    AssertStamp(array, stamp);
                    pool.ReturnArray(array);
                    models[array.Length].Return();
                }
            }
        }

        BufferPoolStatistics statistics = pool.GetStatistics();
        foreach ((int size, Model model) in models)
        {
            if (size < Oversize)
            {
                BufferClassStatistics one = statistics.Classes.Single(entry => entry.Size == size);
                Assert.Equal(
                    (model.Rented, model.Returned, model.Allocated, model.Rejected, model.Trimmed, model.Kept),
                    (one.Rented, one.Returned, one.Allocated, one.Rejected, one.Trimmed, one.Kept));
            }
            else
            {
                Assert.Equal((model.Rented, model.Returned), (statistics.Oversize.Rented, statistics.Oversize.Returned));
            }
        }

        Assert.Equal(held.Sum(static one => (long)one.Array.Length), statistics.BytesRented);
    }

    private static void Stamp(byte[] array, long stamp)
    {
        BinaryPrimitives.WriteInt64LittleEndian(array, stamp);
        BinaryPrimitives.WriteInt64LittleEndian(array.AsSpan(array.Length - 8), stamp);
    }

    private static void AssertStamp(byte[] array, long stamp)
    {
        Assert.Equal(stamp, BinaryPrimitives.ReadInt64LittleEndian(array));
        Assert.Equal(stamp, BinaryPrimitives.ReadInt64LittleEndian(array.AsSpan(array.Length - 8)));
    }

    private sealed record Sequence(int Warm, int Keep, Step[] Steps)
    {
        public override string ToString() => $"warm {Warm}, keep {Keep}: {string.Join("; ", Steps.AsEnumerable())}";
    }

    private sealed record Step(int Kind, int Size, int Pick, int Count);

    private sealed class Model
    {
        private readonly int _warm;
        private readonly int _keep;

        public Model(int warm, int keep)
        {
            _warm = warm;
            _keep = keep;
            Allocated = warm;
            Kept = warm;
        }

        public long Rented { get; private set; }

        public long Returned { get; private set; }

        public long Allocated { get; private set; }

        public long Rejected { get; private set; }

        public long Trimmed { get; private set; }

        public int Kept { get; private set; }

        public void Rent()
        {
            Rented++;
            if (Kept > 0)
            {
                Kept--;
            }
            else
            {
                Allocated++;
            }
        }

        public void Return()
        {
            Returned++;
            if (Kept < _keep)
            {
                Kept++;
            }
            else
            {
                Rejected++;
            }
        }

        public void Trim()
        {
            int excess = Math.Max(0, Kept - _warm);
            Kept -= excess;
            Trimmed += excess;
        }
    }
}
