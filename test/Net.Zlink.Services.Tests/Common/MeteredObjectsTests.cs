using System.Diagnostics.Metrics;
using System.Globalization;
using System.Text;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests;

/// <summary>What metrics say of many objects: each by its name up to a limit, and never less than before.</summary>
public sealed class MeteredObjectsTests
{
    [Fact]
    public void Objects_beyond_the_limit_are_one_sum_and_objects_of_one_name_are_added_up()
    {
        var objects = new MeteredObjects<Thing>("name", new MetricNames(2), static thing => thing.Name);
        Func<IEnumerable<Measurement<long>>> values = objects.Gauge(static thing => [new(thing.Done)]);
        Array.ForEach([new("a", 1), new("a", 10), new("b", 100), new("c", 1_000), new Thing("d", 10_000)], objects.Add);
        Assert.Equal(["a 11", "b 100", "other 11000"], Text(values));
    }

    [Fact]
    public void A_counter_keeps_what_ended_objects_did_and_a_gauge_does_not()
    {
        var objects = new MeteredObjects<Thing>("name", new MetricNames(1), nameOf: null);
        Func<IEnumerable<Measurement<long>>> counter = objects.Counter(static thing => [new(thing.Done, "zlink.state", "done")]);
        Func<IEnumerable<Measurement<long>>> gauge = objects.Gauge(static thing => [new(thing.Done)]);
        Thing[] things = [new("", 1), new("", 10), new("", 100)];
        Array.ForEach(things, objects.Add);
        Assert.Equal(["1 done 1", "other done 110"], Text(counter));
        objects.Remove(things[0]);
        objects.Remove(things[0]);
        objects.Remove(things[1]);
        Assert.Equal(["1 done 1", "other done 110"], Text(counter));
        Assert.Equal(["other 100"], Text(gauge));
        objects.Add(new("", 1_000)); // It gets the number that is free again.
        Assert.Equal(["1 done 1001", "other done 110"], Text(counter));
    }

    [Fact]
    public void Names_from_the_wire_cost_no_memory_when_they_come_again_or_beyond_the_limit()
    {
        var names = new MetricNames(2);
        byte[][] sent = [.. Enumerable.Range(0, 100).Select(static i => Encoding.UTF8.GetBytes($"service {i}")), new byte[300]];
        IEnumerable<string> shown = sent.Select(name => names.Of(name)).Distinct(StringComparer.Ordinal);
        Assert.Equal("service 0, service 1, other", string.Join(", ", shown));
        Assert.Equal("", names.Of(ReadOnlySpan<byte>.Empty));
        long before = GC.GetAllocatedBytesForCurrentThread();
        foreach (byte[] name in sent)
        {
            names.Of(name);
        }

        Assert.Equal(before, GC.GetAllocatedBytesForCurrentThread());
    }

    [Fact]
    public async Task The_duration_of_a_request_has_its_service_and_how_it_failed_and_costs_no_memory()
    {
        await using var fixture = new ContextFixture();
        DurationHistogram durations = ServicesMeters.Of(fixture.Context).RequestDuration;
        string seen = "";
        using var listener = new MeterListener();
        listener.InstrumentPublished = (instrument, self) =>
        {
            if (instrument is Histogram<double> && ReferenceEquals(instrument.Meter.Scope, fixture.Context))
            {
                self.EnableMeasurementEvents(instrument);
            }
        };
        listener.Start();
        durations.Record(TimeSpan.FromSeconds(1), "quotes", ErrorTypes.TimedOut);
        long before = GC.GetAllocatedBytesForCurrentThread();
        durations.Record(TimeSpan.FromSeconds(1), "quotes", ErrorTypes.TimedOut);
        Assert.Equal(before, GC.GetAllocatedBytesForCurrentThread());
        listener.SetMeasurementEventCallback<double>((_, value, tags, _) => seen = string.Join(' ', tags.ToArray()));
        durations.Record(TimeSpan.FromSeconds(1), "quotes", ErrorTypes.TimedOut);
        Assert.Equal("[messaging.system, zlink] [messaging.operation.name, request] [messaging.operation.type, send] "
            + "[messaging.destination.name, quotes] [error.type, timed_out]", seen);
    }

    [Fact]
    public async Task Objects_that_are_made_while_the_first_of_their_context_is_made_add_no_instrument_twice()
    {
        await using var fixture = new ContextFixture();
        List<string> published = [];
        ServicesMeters? meanwhile = null;
        using var listener = new MeterListener();
        listener.InstrumentPublished = (instrument, _) =>
        {
            if (ReferenceEquals(instrument.Meter.Scope, fixture.Context)
                && instrument.Name.StartsWith("messaging.", StringComparison.Ordinal))
            {
                published.Add(instrument.Name);
                meanwhile = published.Count == 1 ? ServicesMeters.Of(fixture.Context) : meanwhile;
            }
        };
        listener.Start();
        Assert.Same(ServicesMeters.Of(fixture.Context), meanwhile);
        Assert.Distinct(published, StringComparer.Ordinal);
        Assert.Equal(4, published.Count);
    }

    private static string[] Text(Func<IEnumerable<Measurement<long>>> values) =>
    [
        .. values().Select(static one => string.Create(CultureInfo.InvariantCulture,
            $"{string.Join(' ', one.Tags.ToArray().Select(static tag => tag.Value))} {one.Value}")).Order(StringComparer.Ordinal),
    ];

    private sealed record Thing(string Name, long Done);
}
