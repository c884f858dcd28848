using System.Diagnostics;

namespace Net.Zlink.Fuzzing;

/// <summary>Runs a target with changed inputs, keeps those that reach new edges, and changes them further, until one fails.</summary>
internal sealed class Fuzzer(FuzzTarget target, Coverage coverage, int seed)
{
    private const int TriesOfOne = 50;

    private readonly Random _random = new(seed);
    private readonly Mutator _mutator = new(new Random(seed), target.Words);
    private readonly byte[] _seen = new byte[Coverage.Size];
    private readonly List<byte[]> _kept = [];
    private long _startedAt;

    public long Executions { get; private set; }

    public int Edges => _seen.Count(static classes => classes != 0);

    public IReadOnlyList<byte[]> Kept => _kept;

    /// <summary>The input that runs, or was the last.</summary>
    public byte[] Current { get; private set; } = [];

    /// <summary>For how long <see cref="Current"/> has run. Any thread.</summary>
    public TimeSpan Running => Volatile.Read(ref _startedAt) is > 0 and long started ? Stopwatch.GetElapsedTime(started) : TimeSpan.Zero;

    /// <summary>Runs the given inputs, then changed ones until <paramref name="isOver"/>.</summary>
    /// <returns>The shortest input found that fails, and how; null: none did.</returns>
    public (byte[] Input, Exception Failure)? Run(IEnumerable<byte[]> first, Func<bool> isOver)
    {
        foreach (byte[] input in first)
        {
            if (!TryKeep(input, out Exception? failure))
            {
                return (input, failure!);
            }
        }

        while (!isOver())
        {
            // The newest are the least explored.
            int newest = Math.Max(1, _kept.Count / 4);
            byte[] parent = _kept.Count == 0 ? [] : _random.Next(2) == 0 ? Any() : _kept[^_random.Next(1, newest + 1)];
            for (int i = 0; i < TriesOfOne && !isOver(); i++)
            {
                byte[] input = _mutator.Mutate(parent, _kept.Count == 0 ? [] : Any());
                if (!TryKeep(input, out Exception? failure))
                {
                    string? place = failure!.StackTrace;
                    byte[] shortest = Shorten(
                        input, candidate => string.Equals(Execute(candidate)?.StackTrace, place, StringComparison.Ordinal));
                    return (shortest, Execute(shortest) ?? failure);
                }
            }
        }

        return null;
    }

    /// <summary>The fewest of the kept inputs, shortest first, that reach all edges reached.</summary>
    public List<byte[]> Distill()
    {
        var seen = new byte[Coverage.Size];
        List<byte[]> chosen = [];
        foreach (byte[] input in _kept.OrderBy(static input => input.Length))
        {
            if (Execute(input) is null && coverage.CountNew(seen, add: true, edgesOnly: true) > 0)
            {
                chosen.Add(input);
            }
        }

        return chosen;
    }

    private byte[] Any() => _kept[_random.Next(_kept.Count)];

    private bool TryKeep(byte[] input, out Exception? failure)
    {
        failure = Execute(input);
        if (failure is not null || coverage.CountNew(_seen) == 0)
        {
            return failure is null;
        }

        // What happens once only is no edge of the input: first calls, other threads.
        failure = Execute(input);
        if (failure is null && coverage.CountNew(_seen) is > 0 and int found)
        {
            byte[] shortest = Shorten(input, candidate => Execute(candidate) is null && coverage.CountNew(_seen) >= found);
            failure = Execute(shortest);
            coverage.CountNew(_seen, add: true);
            _kept.Add(shortest);
        }

        return failure is null;
    }

    private Exception? Execute(byte[] input)
    {
        Executions++;
        Current = input;
        coverage.Clear();
        Volatile.Write(ref _startedAt, Stopwatch.GetTimestamp());
        try
        {
            target.Run(input);
            return null;
        }
#pragma warning disable CA1031 // Whatever it is, it is what is looked for.
        catch (Exception failure)
#pragma warning restore CA1031
        {
            return failure;
        }
        finally
        {
            Volatile.Write(ref _startedAt, 0);
        }
    }

    /// <summary>Removes pieces, halves first, as long as the rest is still good.</summary>
    private static byte[] Shorten(byte[] input, Func<byte[], bool> isGood)
    {
        for (int size = input.Length / 2; size > 0; size /= 2)
        {
            for (int at = 0; at + size <= input.Length;)
            {
                byte[] candidate = [.. input[..at], .. input[(at + size)..]];
                if (isGood(candidate))
                {
                    input = candidate;
                }
                else
                {
                    at += size;
                }
            }
        }

        return input;
    }
}
