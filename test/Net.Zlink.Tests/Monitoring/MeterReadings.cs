using System.Diagnostics.Metrics;
using System.Globalization;

namespace Net.Zlink.Tests.Monitoring;

/// <summary>What a context's instruments say now, by name and tag: "zlink.socket.peers/PUB", "zlink.socket.dropped/PUB/unread".
/// Values of one name and tag are added up.</summary>
internal static class MeterReadings
{
    public static Dictionary<string, double> Of(ZlinkContext context)
    {
        var readings = new Dictionary<string, double>(StringComparer.Ordinal);
        using var listener = new MeterListener();
        listener.InstrumentPublished = (instrument, l) =>
        {
            if (ReferenceEquals(instrument.Meter.Scope, context))
            {
                l.EnableMeasurementEvents(instrument);
            }
        };
        listener.SetMeasurementEventCallback<long>((instrument, value, tags, _) => Add(instrument, value, tags));
        listener.SetMeasurementEventCallback<double>((instrument, value, tags, _) => Add(instrument, value, tags));
        listener.Start();
        listener.RecordObservableInstruments();
        return readings;

        void Add(Instrument instrument, double value, ReadOnlySpan<KeyValuePair<string, object?>> tags)
        {
            string name = instrument.Name;
            foreach (KeyValuePair<string, object?> tag in tags)
            {
                name += string.Create(CultureInfo.InvariantCulture, $"/{tag.Value}");
            }

            readings[name] = readings.GetValueOrDefault(name) + value;
        }
    }
}
