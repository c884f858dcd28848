using System.Diagnostics.Metrics;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Monitoring;

/// <summary>A listener of the meter that fails, as the application's code may: it costs its own measurements, and nothing else.</summary>
public sealed class ThrowingMeterListenerTests
{
    private static readonly AsyncLocal<bool> IsOurs = new();

    [Fact]
    public async Task Keeps_no_context_from_being_made_and_no_instrument_from_the_others()
    {
        using MeterListener throwing = Listen(static (_, _) => throw new InvalidOperationException("the listener's mistake"));
        await using ZlinkContext context = Make();
        var names = new HashSet<string>(StringComparer.Ordinal);
        using var other = new MeterListener();
        other.InstrumentPublished = (instrument, _) =>
        {
            if (ReferenceEquals(instrument.Meter.Scope, context))
            {
                names.Add(instrument.Name);
            }
        };
        other.Start(); // It is told of what is there by now.
        Assert.Contains("zlink.shard.works", names);
        Assert.Contains("zlink.socket.refused", names);
        Assert.Contains("zlink.socket.failed_handshakes", names);
    }

    [Fact]
    public async Task Holds_up_no_shutdown()
    {
        ZlinkContext context;
        int completed = 0;
        using (MeterListener throwing = Listen(static (instrument, listener) => listener.EnableMeasurementEvents(instrument)))
        {
            throwing.MeasurementsCompleted = (_, _) =>
            {
                completed++;
                throw new InvalidOperationException("the listener's mistake");
            };
            context = Make();
            ShutdownReport report = await context.ShutdownAsync(Guard.Limit, Guard.Token).Guarded();
            Assert.True(report.Drained);
            Assert.Equal(1, completed); // What the runtime does with the other instruments is its business.
            throwing.MeasurementsCompleted = null;
        }

        // Its own pool goes with it.
        Assert.Throws<ObjectDisposedException>(() => context.Pool.Rent(1));
    }

    private static ZlinkContext Make()
    {
        IsOurs.Value = true;
        return new ZlinkContext();
    }

    /// <summary>A listener that is told of instruments made in this test's flow only: other tests make contexts beside this one.</summary>
    private static MeterListener Listen(Action<Instrument, MeterListener> published)
    {
        var listener = new MeterListener();
        listener.InstrumentPublished = (instrument, l) =>
        {
            if (IsOurs.Value && string.Equals(instrument.Meter.Name, "Net.Zlink", StringComparison.Ordinal))
            {
                published(instrument, l);
            }
        };
        listener.Start();
        return listener;
    }
}
