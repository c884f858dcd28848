using Net.Zlink.Scenarios.Attacks;

namespace Net.Zlink.Scenarios.Patterns.Services.Chaos;

/// <summary>What the logs of gateways and receivers say together.</summary>
internal sealed class RequestChecker
{
    // Beyond the time of a request: a busy machine runs its timers late.
    private static readonly TimeSpan s_lateness = TimeSpan.FromSeconds(1);

    private readonly Dictionary<long, int> _executions = [];
    private readonly long[] _outcomes = new long[Enum.GetValues<ChaosOutcome>().Length];
    private readonly List<string> _faults = [];
    private readonly TimeSpan _timeout;
    private long _begun;
    private long _cutOff;
    private long _neverEnded;
    private long _endedTwice;
    private long _late;
    private long _executedThough;
    private long _notExecutedThough;
    private TimeSpan _longest;

    public RequestChecker(IReadOnlyCollection<ChaosLife> lives, TimeSpan timeout)
    {
        _timeout = timeout;
        foreach (ChaosRecord record in lives.Where(static life => life.Role == ChaosRole.Receiver)
            .SelectMany(static life => life.Records).Where(static record => record.Fact == ChaosFact.Executed))
        {
            _executions[record.Id] = _executions.GetValueOrDefault(record.Id) + 1;
        }

        foreach (ChaosLife life in lives.Where(static life => life.Role == ChaosRole.Gateway))
        {
            Check(life);
        }
    }

    /// <summary>One sentence for each of the first faults of each kind.</summary>
    public IReadOnlyList<string> Faults => _faults;

    public IReadOnlyList<AttackFigure> Figures =>
    [
        new("requests begun", _begun, 1, AtLeast: true),
        new("answered", Of(ChaosOutcome.Answered), 1, AtLeast: true),
        new("failed by the handler", Of(ChaosOutcome.Failed), null),
        new("receiver lost", Of(ChaosOutcome.Lost), null),
        new("not executed", Of(ChaosOutcome.NotExecuted), null),
        new("time over", Of(ChaosOutcome.TimedOut), null),
        new("cancelled", Of(ChaosOutcome.Cancelled), null),
        new("begun by a gateway that was killed, without an end", _cutOff, null),
        new("executed", _executions.Count, null),
        new("executed twice", _executions.Values.Count(static count => count > 1), 0),
        new("said to be not executed, and executed", _executedThough, 0),
        new("answered or failed, and never executed", _notExecutedThough, 0),
        new("reply of another request", Of(ChaosOutcome.WrongReply), 0),
        new("unexpected exceptions", Of(ChaosOutcome.Unexpected), 0),
        new("never ended", _neverEnded, 0),
        new("ended twice", _endedTwice, 0),
        new($"ended {s_lateness.TotalSeconds:0} s after their time or later", _late, 0),
        new("longest, ms", _longest.TotalMilliseconds, null),
    ];

    private long Of(ChaosOutcome outcome) => _outcomes[(int)outcome];

    private void Check(ChaosLife life)
    {
        var open = new Dictionary<long, long>();
        var ended = new HashSet<long>();
        foreach (ChaosRecord record in life.Records)
        {
            if (record.Fact == ChaosFact.Started)
            {
                open.Add(record.Id, record.At);
                _begun++;
            }
            else if (record.Fact == ChaosFact.Ended && open.Remove(record.Id, out long startedAt))
            {
                ended.Add(record.Id);
                CheckEnd(life, record, life.Ran(startedAt, record.At));
            }
            else if (record.Fact == ChaosFact.Ended && ended.Contains(record.Id))
            {
                Add(ref _endedTwice, life, record, "has ended twice");
            }
        }

        if (!life.EndedInOrder)
        {
            _cutOff += open.Count;
            return;
        }

        foreach ((long id, long at) in open)
        {
            Add(ref _neverEnded, life, new ChaosRecord(ChaosFact.Started, 0, id, at), "has never ended");
        }
    }

    private void CheckEnd(ChaosLife life, ChaosRecord record, TimeSpan took)
    {
        var outcome = (ChaosOutcome)record.Value;
        _outcomes[record.Value]++;
        _longest = took > _longest ? took : _longest;
        bool isExecuted = _executions.TryGetValue(record.Id, out int executions);
        if (executions > 1)
        {
            Say(life, record, $"was executed {executions} times and {outcome}");
        }

        if (isExecuted && outcome == ChaosOutcome.NotExecuted)
        {
            Add(ref _executedThough, life, record, "is said to be not executed, and was");
        }
        else if (!isExecuted && outcome is ChaosOutcome.Answered or ChaosOutcome.Failed)
        {
            Add(ref _notExecutedThough, life, record, $"{outcome}, and nobody executed it");
        }
        else if (outcome is ChaosOutcome.WrongReply or ChaosOutcome.Unexpected)
        {
            Say(life, record, $"has ended with {outcome}");
        }

        if (took > _timeout + s_lateness)
        {
            Add(ref _late, life, record, FormattableString.Invariant($"took {took.TotalSeconds:0.0} s: {outcome}"));
        }
    }

    private void Add(ref long counter, ChaosLife life, ChaosRecord record, string what)
    {
        counter++;
        Say(life, record, what);
    }

    private void Say(ChaosLife life, ChaosRecord record, string what) =>
        _faults.Add(FormattableString.Invariant($"request {ChaosId.SequenceOf(record.Id)} of {life.Name} {what}"));
}
