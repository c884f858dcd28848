using System.Diagnostics.Metrics;

namespace Net.Zlink.Services;

/// <summary>One value of one object.</summary>
/// <param name="Value">The value.</param>
/// <param name="Tag">The key of what distinguishes it from other values of the object; null: it is the only one.</param>
/// <param name="State">The value of that tag.</param>
internal readonly record struct Reading(long Value, string? Tag = null, string? State = null)
{
    public static Reading InState(long value, string state) => new(value, "zlink.state", state);

    public static Reading OfCause(long value, string cause) => new(value, "zlink.cause", cause);
}

/// <summary>Objects of one kind in one context. Values of objects with one name are added up, and a counter includes what ended objects
/// did, so that it never falls.</summary>
/// <remarks>Safe for any number of threads.</remarks>
/// <param name="tag">The key of the tag with the object's name; null: all objects are one sum.</param>
/// <param name="names">Which names are shown one by one.</param>
/// <param name="nameOf">The name of an object, which may be empty; null: its number, the lowest that no other present one has.</param>
internal sealed class MeteredObjects<T>(string? tag, MetricNames names, Func<T, string>? nameOf)
    where T : class
{
    private readonly Lock _gate = new();
    private readonly Dictionary<T, int> _present = new(ReferenceEqualityComparer.Instance);
    private readonly PriorityQueue<int, int> _free = new(); // Numbers below the highest that no present object has.
    private readonly List<Source> _counters = [];

    public void Add(T one)
    {
        lock (_gate)
        {
            int number = _free.TryDequeue(out int freed, out _) ? freed : _present.Count + 1;
            if (!_present.TryAdd(one, number))
            {
                _free.Enqueue(number, number);
            }
        }
    }

    /// <summary>It has ended: its counters stay in the sum.</summary>
    public void Remove(T one)
    {
        if (!TryGetNumber(one, out int number))
        {
            return;
        }

        string name = NameOf(one, number);
        Reading[][] last = [.. _counters.Select(counter => counter.Read(one).ToArray())];
        lock (_gate)
        {
            if (!_present.Remove(one))
            {
                return;
            }

            _free.Enqueue(number, number);

            for (int i = 0; i < last.Length; i++)
            {
                Sum(_counters[i].Ended, name, last[i]);
            }
        }
    }

    /// <summary>Values that only grow.</summary>
    /// <param name="read">The values of one object.</param>
    /// <param name="tags">Of all measurements.</param>
    public Func<IEnumerable<Measurement<long>>> Counter(
        Func<T, IEnumerable<Reading>> read, params KeyValuePair<string, object?>[] tags)
    {
        var source = new Source(read);
        _counters.Add(source);
        return () => Measure(source, tags);
    }

    /// <summary>Values that an ended object has no more.</summary>
    /// <inheritdoc cref="Counter"/>
    public Func<IEnumerable<Measurement<long>>> Gauge(Func<T, IEnumerable<Reading>> read, params KeyValuePair<string, object?>[] tags)
    {
        var source = new Source(read);
        return () => Measure(source, tags);
    }

    private bool TryGetNumber(T one, out int number)
    {
        lock (_gate)
        {
            return _present.TryGetValue(one, out number);
        }
    }

    private string NameOf(T one, int number) => tag is null ? ""
        : names.Of(nameOf is null ? number.ToString(System.Globalization.CultureInfo.InvariantCulture) : nameOf(one));

    private IEnumerable<Measurement<long>> Measure(Source source, KeyValuePair<string, object?>[] tags)
    {
        KeyValuePair<T, int>[] present;
        Dictionary<(string, string?, string?), long> sums;
        lock (_gate)
        {
            present = [.. _present];
            sums = new Dictionary<(string, string?, string?), long>(source.Ended);
        }

        foreach ((T one, int number) in present)
        {
            Sum(sums, NameOf(one, number), source.Read(one));
        }

        foreach (((string name, string? key, string? state), long value) in sums)
        {
            List<KeyValuePair<string, object?>> all = [.. tags];
            if (name.Length > 0)
            {
                all.Add(new(tag!, name));
            }

            if (key is not null)
            {
                all.Add(new(key, state));
            }

            yield return new Measurement<long>(value, all);
        }
    }

    private static void Sum(Dictionary<(string, string?, string?), long> sums, string name, IEnumerable<Reading> readings)
    {
        foreach (Reading one in readings)
        {
            (string, string?, string?) key = (name, one.Tag, one.State);
            sums[key] = sums.GetValueOrDefault(key) + one.Value;
        }
    }

    private sealed record Source(Func<T, IEnumerable<Reading>> Read)
    {
        /// <summary>What ended objects did, by name and tag.</summary>
        public Dictionary<(string, string?, string?), long> Ended { get; } = [];
    }
}
