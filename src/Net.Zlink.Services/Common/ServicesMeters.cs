using System.Diagnostics.Metrics;
using System.Globalization;

namespace Net.Zlink.Services;

/// <summary>The instruments of one service object, whose names begin with its role. They are read when a listener asks.</summary>
internal sealed class ServicesMeters : IDisposable
{
    public const string MeterName = "Net.Zlink.Services";

    private static int s_objects;

    private readonly Meter _meter;
    private readonly string _prefix;

    public ServicesMeters(string role, object owner, ZlinkContext context)
    {
        string number = Interlocked.Increment(ref s_objects).ToString(CultureInfo.InvariantCulture);
        List<KeyValuePair<string, object?>> tags = [new("zlink.object", number)];
        if (context.Name is { } name)
        {
            tags.Add(new("zlink.context", name));
        }

        // Listeners of one host compare its factory. The factory itself would keep the meter until the host ends, and services end before.
        _meter = new Meter(new MeterOptions(MeterName) { Tags = tags, Scope = context.MeterFactory ?? owner });
        _prefix = $"zlink.{role}.";
    }

    public void Gauge(string name, Func<long> value, string unit, string description) =>
        _meter.CreateObservableGauge(_prefix + name, value, unit, description);

    public void Gauge(string name, Func<IEnumerable<Measurement<long>>> values, string unit, string description) =>
        _meter.CreateObservableGauge(_prefix + name, values, unit, description);

    public void Counter(string name, Func<long> value, string unit, string description) =>
        _meter.CreateObservableCounter(_prefix + name, value, unit, description);

    public void Counter(string name, Func<IEnumerable<Measurement<long>>> values, string unit, string description) =>
        _meter.CreateObservableCounter(_prefix + name, values, unit, description);

    public Histogram<double> Histogram(string name, string unit, string description) =>
        _meter.CreateHistogram<double>(_prefix + name, unit, description);

    public static Measurement<long> Tagged(long value, string tag, string state) =>
        new(value, new KeyValuePair<string, object?>($"zlink.{tag}", state));

    public void Dispose() => _meter.Dispose();
}

internal static class HistogramExtensions
{
    /// <summary>Records a value. A listener that throws does not end what is measured.</summary>
    public static void TryRecord(this Histogram<double> histogram, double value)
    {
        try
        {
            histogram.Record(value);
        }
        catch (Exception)
        {
            // Of the application, which hears of it nowhere: there is no caller of ours to throw at.
        }
    }
}
