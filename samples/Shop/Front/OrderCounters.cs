namespace Samples.Shop;

/// <summary>Orders of this front: how many, how long, and how many in each of the last seconds.</summary>
internal sealed class OrderCounters(TimeProvider clock)
{
    private const int Durations = 500;
    private const int Seconds = 60;

    private readonly Lock _gate = new();
    private readonly double[] _durations = new double[Durations];
    private readonly int[] _bySecond = new int[Seconds];
    private readonly Dictionary<string, long> _served = new(StringComparer.Ordinal);
    private readonly long _started = clock.GetTimestamp();
    private long _second;
    private long _orders;
    private long _failed;

    public OrderCounters()
        : this(TimeProvider.System)
    {
    }

    public void Add(string stock, TimeSpan duration)
    {
        lock (_gate)
        {
            Move();
            _durations[_orders++ % Durations] = duration.TotalMilliseconds;
            _bySecond[_second % Seconds]++;
            _served[stock] = _served.GetValueOrDefault(stock) + 1;
        }
    }

    public void AddFailure()
    {
        lock (_gate)
        {
            _failed++;
        }
    }

    public (long Orders, long Failed, double Median, double P99, double[] History, Dictionary<string, long> Served) Read()
    {
        lock (_gate)
        {
            Move();
            double[] sorted = [.. _durations.Take((int)Math.Min(_orders, Durations)).Order()];
            return (_orders, _failed, At(sorted, 0.5), At(sorted, 0.99),
                [.. Enumerable.Range(1, Seconds - 1).Select(i => (double)_bySecond[(_second + i) % Seconds])],
                new Dictionary<string, long>(_served, StringComparer.Ordinal));
        }
    }

    private static double At(double[] sorted, double share) => sorted.Length == 0 ? 0 : sorted[(int)((sorted.Length - 1) * share)];

    // Under the gate: the seconds that have passed begin with 0.
    private void Move()
    {
        long now = (long)clock.GetElapsedTime(_started).TotalSeconds;
        for (long second = Math.Max(_second + 1, now - Seconds + 1); second <= now; second++)
        {
            _bySecond[second % Seconds] = 0;
        }

        _second = now;
    }
}
