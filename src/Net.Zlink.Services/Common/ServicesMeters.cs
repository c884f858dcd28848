using System.Diagnostics.Metrics;

namespace Net.Zlink.Services;

/// <summary>
/// The instruments of one service object, under the meter "Net.Zlink.Services". Gauges and counters are read when a listener asks; they
/// end with the object.
/// </summary>
internal sealed class ServicesMeters : IDisposable
{
    public const string MeterName = "Net.Zlink.Services";

    private readonly Meter _meter;
    private readonly string _prefix;

    /// <param name="role">Begins the name of each instrument: registry, discovery, registration, receiver, gateway.</param>
    /// <param name="owner">The scope of the meter: listeners can tell two objects of a process apart.</param>
    public ServicesMeters(string role, object owner)
    {
        _meter = new Meter(new MeterOptions(MeterName) { Scope = owner });
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

    public void Dispose() => _meter.Dispose();
}
