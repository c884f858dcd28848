namespace Net.Zlink.Scenarios.Patterns.Soak;

/// <summary>What all parts of a soak count together.</summary>
internal sealed class SoakCounters
{
    // The first faults say what is wrong; a million more of them say no more.
    private const int MostFaults = 20;

    private readonly List<string> _faults = [];
    private readonly Dictionary<string, long> _byLane = new(StringComparer.Ordinal);
    private readonly Lock _gate = new();
    private long _messages;
    private long _connections;

    public long Messages => Interlocked.Read(ref _messages);

    public long Connections => Interlocked.Read(ref _connections);

    public IReadOnlyList<string> Faults
    {
        get
        {
            lock (_gate)
            {
                return [.. _faults];
            }
        }
    }

    /// <summary>Some messages went their way.</summary>
    public void Count(long messages) => Interlocked.Add(ref _messages, messages);

    /// <summary>A client of a lane lived and ended as it should.</summary>
    public void CountConnection(string lane)
    {
        Interlocked.Increment(ref _connections);
        lock (_gate)
        {
            _byLane[lane] = _byLane.GetValueOrDefault(lane) + 1;
        }
    }

    public long ConnectionsOf(string lane)
    {
        lock (_gate)
        {
            return _byLane.GetValueOrDefault(lane);
        }
    }

    public void Fault(string what)
    {
        lock (_gate)
        {
            if (_faults.Count < MostFaults)
            {
                _faults.Add(what);
            }
        }
    }
}
