using Net.Zlink.Scenarios.Attacks;

namespace Net.Zlink.Scenarios.Patterns.Services.Chaos;

/// <summary>What the logs of SPOT nodes say together.</summary>
internal sealed class SpotChecker
{
    private readonly Dictionary<long, ChaosLife> _lives;
    private readonly List<string> _faults = [];
    private long _received;
    private long _twiceOrOutOfOrder;
    private long _unknown;
    private long _announced;
    private long _unannounced;
    private long _dropped;
    private long _wrongBooks;

    public SpotChecker(IEnumerable<ChaosLife> lives)
    {
        _lives = lives.Where(static life => life.Role == ChaosRole.Spot).ToDictionary(static life => life.Key);
        foreach (ChaosLife life in _lives.Values)
        {
            Check(life);
        }
    }

    public IReadOnlyList<string> Faults => _faults;

    public IReadOnlyList<AttackFigure> Figures =>
    [
        new("published", _lives.Values.Sum(static life => life.Records.Count(static record => record.Fact == ChaosFact.Published)), 1,
            AtLeast: true),
        new("received", _received, 1, AtLeast: true),
        new("received twice or out of order", _twiceOrOutOfOrder, 0),
        new("received, and never published", _unknown, 0),
        new("missing, and announced", _announced, null),
        new("dropped by a subscriber's queue, and counted", _dropped, null),
        new("missing, and neither announced nor counted", Math.Max(0, _unannounced - _dropped), 0),
        new("books that do not add up", _wrongBooks, 0),
    ];

    /// <summary>What came of one publisher, in one life of the receiver: numbers that rise by one, or a sign before the next.</summary>
    private void Check(ChaosLife life)
    {
        var last = new Dictionary<long, uint>();
        int dropped = 0;
        foreach (ChaosRecord record in life.Records)
        {
            if (record.Fact == ChaosFact.Books && record.Value != 0)
            {
                _wrongBooks++;
                Say(life, $"has books that are off by {record.Value}");
            }
            else if (record.Fact == ChaosFact.Dropped)
            {
                dropped = record.Value;
            }
            else if (record.Fact == ChaosFact.Received)
            {
                CheckReceived(life, record, last);
            }
        }

        _dropped += dropped;
        CheckEnds(life, last);
    }

    private void CheckReceived(ChaosLife life, ChaosRecord record, Dictionary<long, uint> last)
    {
        _received++;
        long publisher = ChaosId.LifeOf(record.Id);
        uint sequence = ChaosId.SequenceOf(record.Id);
        if (!_lives.TryGetValue(publisher, out ChaosLife? from))
        {
            _unknown++;
            Say(life, $"received {record.Id:X}, which nobody has published");
            return;
        }

        if (!last.TryGetValue(publisher, out uint before))
        {
            last[publisher] = sequence;
            return;
        }

        if (sequence <= before)
        {
            _twiceOrOutOfOrder++;
            Say(life, FormattableString.Invariant($"received {sequence} behind {before} of {from.Name}"));
            return;
        }

        last[publisher] = sequence;
        Miss(life, from, before, sequence, isAnnounced: record.Value != 0);
    }

    /// <summary>Two that were there when the publishers stopped: the last message must have come.</summary>
    private void CheckEnds(ChaosLife life, Dictionary<long, uint> last)
    {
        foreach (ChaosLife publisher in _lives.Values.Where(other => life.IsLast && other.IsLast))
        {
            uint published = (uint)publisher.Records.Count(static record => record.Fact == ChaosFact.Published);
            Miss(life, publisher, last.GetValueOrDefault(publisher.Key), published + 1, isAnnounced: false);
        }
    }

    private void Miss(ChaosLife life, ChaosLife publisher, uint before, uint next, bool isAnnounced)
    {
        uint missing = next - before - 1;
        if (missing == 0)
        {
            return;
        }

        if (isAnnounced)
        {
            _announced += missing;
            return;
        }

        _unannounced += missing;
        Say(life, FormattableString.Invariant($"misses {missing} of {publisher.Name} behind {before}, without a sign"));
    }

    private void Say(ChaosLife life, string what) => _faults.Add($"{life.Name} {what}");
}
