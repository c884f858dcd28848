using System.Diagnostics;
using System.Diagnostics.Metrics;

namespace Net.Zlink.Services;

/// <summary>How long an operation took, by service and by how it failed. Recording allocates nothing.</summary>
internal sealed class DurationHistogram(string operation, string operationType)
{
    // In seconds, from 100 us to 10 s, three to a decade: the default ones of OpenTelemetry begin at 5.
    private static readonly InstrumentAdvice<double> Buckets = new()
    {
        HistogramBucketBoundaries = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    };

    private Histogram<double>? _histogram;

    /// <summary>Somebody collects it.</summary>
    public bool IsOn => _histogram is { Enabled: true };

    public void Make(Meter meter, string name, string description) =>
        _histogram = meter.CreateHistogram(name, "s", description, tags: null, Buckets);

    /// <param name="elapsed">How long it took.</param>
    /// <param name="service">The service as metrics name it; empty: none is known.</param>
    /// <param name="error">See <see cref="ErrorTypes"/>; null: it succeeded.</param>
    public void Record(TimeSpan elapsed, string service, string? error)
    {
        if (!IsOn)
        {
            return;
        }

        var tags = new TagList
        {
            { MessagingTags.System, MessagingTags.Zlink },
            { MessagingTags.OperationName, operation },
            { MessagingTags.OperationType, operationType },
        };
        if (service.Length > 0)
        {
            tags.Add(MessagingTags.Destination, service);
        }

        if (error is not null)
        {
            tags.Add(MessagingTags.Error, error);
        }

        try
        {
            _histogram!.Record(elapsed.TotalSeconds, tags);
        }
        catch (Exception)
        {
            // A listener of the application threw, which must not end what is measured. There is no caller to throw at.
        }
    }
}
