using System.Collections.Concurrent;

namespace Samples.GameRooms;

/// <summary>What the bots of a node have seen: counts, ages, and for the demo each message by each bot.</summary>
internal sealed class Sightings
{
    private const int Kept = 4096;

    private readonly double[] _ages = new double[Kept];
    private readonly ConcurrentDictionary<(int By, int Bot, int Number), byte> _seen = new();
    private long _count;
    private long _doubles;

    public long Count => Volatile.Read(ref _count);

    public long Doubles => Volatile.Read(ref _doubles);

    /// <summary>Whether each message is remembered, to find those that come twice.</summary>
    public bool IsRemembering { get; init; }

    public void Add(Bot by, Position position)
    {
        _ages[Interlocked.Increment(ref _count) % Kept] = position.Age.TotalMicroseconds;
        if (IsRemembering && !_seen.TryAdd((by.Id, position.Bot, position.Number), 0))
        {
            Interlocked.Increment(ref _doubles);
        }
    }

    public bool HasSeen(int by, int bot, int number) => _seen.ContainsKey((by, bot, number));

    /// <summary>Of the last 4,096 messages, in microseconds.</summary>
    public (int P50, int P99) Ages()
    {
        double[] ages = [.. _ages.AsSpan(0, (int)Math.Min(Kept, Math.Max(1, Count)))];
        Array.Sort(ages);
        return ((int)ages[ages.Length / 2], (int)ages[ages.Length * 99 / 100]);
    }
}
