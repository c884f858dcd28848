using System.Diagnostics.CodeAnalysis;

namespace Net.Zlink.Services;

/// <summary>What the owner of a <see cref="DialSchedule{T}"/> does with an endpoint.</summary>
internal enum DialStep
{
    /// <summary>Connects it.</summary>
    Dial,

    /// <summary>Disconnects it: it has not answered, and others wait. It comes again behind a pause.</summary>
    GiveUp,
}

/// <summary>
/// Decides which of many endpoints is dialled next: those that were connected, then those that were never tried, newest first, then those
/// that have failed, behind pauses that grow. Each change costs by what changed, whatever the number of endpoints.
/// </summary>
/// <remarks>It knows no socket, no clock and no random numbers: times, since any moment, are arguments. Guarded by the lock of its owner,
/// who calls <see cref="TryTake"/> after each change and at <see cref="NextDue"/>, until it returns false.</remarks>
internal sealed class DialSchedule<T>(DialLimits limits)
    where T : notnull
{
    // A connection that was shorter is a failure: a peer that ends each of them must not go first.
    private static readonly TimeSpan BriefTime = TimeSpan.FromSeconds(1);

    private readonly Dictionary<T, DialEntry<T>> _entries = [];
    private readonly Dictionary<object, DialGroup<T>> _groups = [];
    private readonly List<DialGroup<T>> _turns = [];
    private readonly HashSet<DialEntry<T>> _dialling = [];
    private DialPlaces _places = new(limits.ConcurrentDials);
    private TimeSpan _pacedUntil;
    private uint _lastNumber;
    private int _failing;
    private int _turn;

    /// <summary>When to call <see cref="TryTake"/> again if nothing changes before; null: then there is nothing to do.</summary>
    public TimeSpan? NextDue { get; private set; }

    public int Dialling => _dialling.Count;

    /// <summary>Endpoints whose last attempt failed.</summary>
    public int Failing => _failing;

    public bool IsDialling(T target) => _entries.TryGetValue(target, out DialEntry<T>? entry) && entry.Phase == DialPhase.Dialling;

    public bool IsConnected(T target) => _entries.TryGetValue(target, out DialEntry<T>? entry) && entry.Phase == DialPhase.Connected;

    /// <summary>A group wants an endpoint, which may be in several.</summary>
    /// <param name="target">The endpoint.</param>
    /// <param name="group">Who wants it.</param>
    /// <param name="now">The time.</param>
    /// <param name="isConnected">It has a connection already.</param>
    public void Add(T target, object group, TimeSpan now, bool isConnected = false)
    {
        if (!_groups.TryGetValue(group, out DialGroup<T>? wanting))
        {
            _groups.Add(group, wanting = new DialGroup<T>());
            _turns.Add(wanting);
        }

        if (!_entries.TryGetValue(target, out DialEntry<T>? entry))
        {
            entry = new DialEntry<T>(target, ++_lastNumber, limits.Seed)
            {
                Rank = DialRank.New,
                Added = now,
                Phase = isConnected ? DialPhase.Connected : DialPhase.Waiting,
                Since = now,
            };
            _entries.Add(target, entry);
        }

        if (!entry.Groups.Contains(wanting))
        {
            entry.Groups.Add(wanting);
            wanting.Members++;
            wanting.Enter(entry);
        }
    }

    /// <summary>A group wants it no more. With the last group it is forgotten; its owner ends the connection.</summary>
    public void Remove(T target, object group)
    {
        if (!_entries.TryGetValue(target, out DialEntry<T>? entry) || !_groups.TryGetValue(group, out DialGroup<T>? leaving)
            || !entry.Groups.Contains(leaving))
        {
            return;
        }

        leaving.Leave(entry);
        entry.Groups.Remove(leaving);
        if (--leaving.Members == 0)
        {
            _groups.Remove(group);
            _turns.Remove(leaving);
        }

        if (entry.Groups.Count == 0)
        {
            Enter(entry, DialPhase.Waiting);
            _failing -= entry.Failures > 0 ? 1 : 0;
            _entries.Remove(target);
        }
    }

    /// <summary>Its handshake is complete.</summary>
    /// <returns>False: it is not being dialled.</returns>
    public bool OnReady(T target, TimeSpan now)
    {
        if (!_entries.TryGetValue(target, out DialEntry<T>? entry) || entry.Phase != DialPhase.Dialling)
        {
            return false;
        }

        Enter(entry, DialPhase.Connected);
        entry.Since = now;
        _failing -= entry.Failures > 0 ? 1 : 0;
        entry.Failures = 0;
        return true;
    }

    /// <summary>The attempt failed, or its connection has ended.</summary>
    /// <returns>False: it is neither dialled nor connected.</returns>
    public bool OnEnded(T target, TimeSpan now)
    {
        if (!_entries.TryGetValue(target, out DialEntry<T>? entry) || entry.Phase == DialPhase.Waiting)
        {
            return false;
        }

        End(entry, now);
        return true;
    }

    /// <summary>What is to be done now, which counts as done.</summary>
    /// <returns>False: nothing before <see cref="NextDue"/>.</returns>
    public bool TryTake(TimeSpan now, [MaybeNullWhen(false)] out T target, out DialStep step)
    {
        NextDue = null;
        DialEntry<T>? overdue = null;
        for (DialRank rank = DialRank.Lost; rank <= DialRank.Failed; rank++)
        {
            if (Next(rank, now, ref overdue) is { } entry)
            {
                Dial(entry, now);
                (target, step) = (entry.Target, DialStep.Dial);
                return true;
            }
        }

        if (overdue is null)
        {
            (target, step) = (default, default);
            return false;
        }

        End(overdue, now);
        (target, step) = (overdue.Target, DialStep.GiveUp);
        return true;
    }

    private bool IsFull(DialGroup<T> group) => group.Open >= limits.ConnectedPerGroup;

    /// <summary>The first endpoint of a rank that may be dialled, each group in its turn.</summary>
    private DialEntry<T>? Next(DialRank rank, TimeSpan now, ref DialEntry<T>? overdue)
    {
        bool hasPlace = _places.CanTake(rank);
        bool isSought = false;
        for (int i = 0; i < _turns.Count; i++)
        {
            DialGroup<T> group = _turns[(_turn + i) % _turns.Count];
            if (group.First(rank) is not { } first)
            {
                continue;
            }

            if (first.Due > now)
            {
                Due(first.Due);
            }
            else if (IsFull(group))
            {
                overdue ??= group.Dialling > 0 ? Overdue(now, group, rank) : null;
            }
            else if (!hasPlace)
            {
                overdue ??= isSought ? null : Overdue(now, of: null, rank);
                isSought = true;
            }
            else if (_pacedUntil > now + limits.Burst)
            {
                Due(_pacedUntil - limits.Burst);
            }
            else
            {
                _turn = (_turn + i + 1) % _turns.Count;
                return first;
            }
        }

        return null;
    }

    /// <summary>The dial that has taken longest beyond its time, and whose place would serve.</summary>
    private DialEntry<T>? Overdue(TimeSpan now, DialGroup<T>? of, DialRank waiting)
    {
        DialEntry<T>? first = null;
        foreach (DialEntry<T> entry in _dialling)
        {
            bool serves = (of is null || entry.Groups.Contains(of)) && _places.CanReplace(entry.Rank, waiting);
            first = serves && (first is null || (entry.Due, entry.Number).CompareTo((first.Due, first.Number)) < 0) ? entry : first;
        }

        if (first is null || first.Due <= now)
        {
            return first;
        }

        Due(first.Due);
        return null;
    }

    private void Due(TimeSpan due) => NextDue = NextDue is { } known && known <= due ? known : due;

    private void Dial(DialEntry<T> entry, TimeSpan now)
    {
        Enter(entry, DialPhase.Dialling);
        entry.Due = now + DialLimits.PatienceFor(entry.Failures);
        _pacedUntil = (_pacedUntil > now ? _pacedUntil : now) + DialLimits.Interval;
    }

    private void End(DialEntry<T> entry, TimeSpan now)
    {
        bool hasStood = entry.Phase == DialPhase.Connected && now - entry.Since >= BriefTime;
        DialRank rank = hasStood ? DialRank.Lost : DialRank.Failed;
        if (entry.Phase == DialPhase.Dialling)
        {
            _failing += entry.Failures == 0 ? 1 : 0;
            entry.Failures++;
        }

        Enter(entry, DialPhase.Waiting, rank, now + entry.Scattered(limits.PauseBehind(entry.Failures, _failing)));
    }

    /// <summary>All that has to be counted for a change of phase.</summary>
    private void Enter(DialEntry<T> entry, DialPhase phase, DialRank? rank = null, TimeSpan? due = null)
    {
        foreach (DialGroup<T> group in entry.Groups)
        {
            group.Leave(entry);
        }

        if (entry.Phase == DialPhase.Dialling)
        {
            _dialling.Remove(entry);
            _places.Free(entry.Rank);
        }

        (entry.Phase, entry.Rank, entry.Due) = (phase, rank ?? entry.Rank, due ?? entry.Due);
        if (phase == DialPhase.Dialling)
        {
            _dialling.Add(entry);
            _places.Take(entry.Rank);
        }

        foreach (DialGroup<T> group in entry.Groups)
        {
            group.Enter(entry);
        }
    }
}
