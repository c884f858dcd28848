namespace Net.Zlink.Services;

internal enum DialPhase
{
    Waiting,
    Dialling,
    Connected,
}

/// <summary>One endpoint of a <see cref="DialSchedule{T}"/>. What orders it in a group changes only while it is in none.</summary>
internal sealed class DialEntry<T>(T target, uint number, uint seed)
{
    private const double GoldenRatio = 0.618033988749895;

    public T Target { get; } = target;

    public uint Number { get; } = number;

    /// <summary>Orders endpoints that were added at one moment.</summary>
    public uint Order { get; } = (number ^ seed) * 2_654_435_769;

    public List<DialGroup<T>> Groups { get; } = new(capacity: 1);

    public DialPhase Phase { get; set; }

    public DialRank Rank { get; set; }

    /// <summary>Waiting: not before. Dialling: others may take its place from then on.</summary>
    public TimeSpan Due { get; set; } = TimeSpan.MinValue;

    public TimeSpan Added { get; init; }

    /// <summary>When it was connected.</summary>
    public TimeSpan Since { get; set; }

    /// <summary>In a row.</summary>
    public int Failures { get; set; }

    /// <summary>Up to half as long again: endpoints that failed together are not dialled together.</summary>
    public TimeSpan Scattered(TimeSpan pause)
    {
        double part = ((Number ^ seed) + (uint)Failures) * GoldenRatio;
        return pause * (1 + ((part - Math.Floor(part)) / 2));
    }
}

/// <summary>The endpoints that one service, or one node, wants.</summary>
internal sealed class DialGroup<T>
{
    private static readonly Comparer<DialEntry<T>> s_byAge = Comparer<DialEntry<T>>.Create(
        static (left, right) => (right.Added, right.Order).CompareTo((left.Added, left.Order)));
    private static readonly Comparer<DialEntry<T>> s_byDue = Comparer<DialEntry<T>>.Create(
        static (left, right) => (left.Due, left.Number).CompareTo((right.Due, right.Number)));

    private readonly SortedSet<DialEntry<T>>?[] _waiting = new SortedSet<DialEntry<T>>?[(int)DialRank.Failed + 1];

    public int Members { get; set; }

    public int Dialling { get; private set; }

    /// <summary>Endpoints that are dialled or connected.</summary>
    public int Open { get; private set; }

    public DialEntry<T>? First(DialRank rank) => _waiting[(int)rank]?.Min;

    public void Enter(DialEntry<T> entry)
    {
        if (entry.Phase == DialPhase.Waiting)
        {
            (_waiting[(int)entry.Rank] ??= new(entry.Rank == DialRank.New ? s_byAge : s_byDue)).Add(entry);
            return;
        }

        Open++;
        Dialling += entry.Phase == DialPhase.Dialling ? 1 : 0;
    }

    public void Leave(DialEntry<T> entry)
    {
        if (entry.Phase == DialPhase.Waiting)
        {
            _waiting[(int)entry.Rank]?.Remove(entry);
            return;
        }

        Open--;
        Dialling -= entry.Phase == DialPhase.Dialling ? 1 : 0;
    }
}
