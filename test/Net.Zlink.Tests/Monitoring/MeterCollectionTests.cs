using System.Diagnostics.Metrics;
using Net.Zlink.Tests.Sockets.Links;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Monitoring;

/// <summary>What a collection of all instruments costs where there are many peers.</summary>
public sealed class MeterCollectionTests
{
    [Fact]
    public async Task A_collection_looks_at_a_peer_once_and_the_next_one_again()
    {
        // There are thirteen instruments, each of which would. A machine that stops for a second in the middle of a collection may have it
        // look once more.
        const int Most = 3;
        await using var fixture = new ContextFixture();
        using TestCore core = TestCore.Create();
        TestLink pipe = TestLink.Create(core, default);
        int looks = 0;
        pipe.Counted = () => looks++;
        PairSocket socket = fixture.Context.CreatePair();
        socket.Core.Counters.Open(pipe);
        MeterReadings.Of(fixture.Context);
        Assert.InRange(looks, 1, Most);
        int first = looks;
        MeterReadings.Of(fixture.Context);
        Assert.InRange(looks - first, 1, Most);
    }

    [Fact]
    public async Task An_instrument_that_is_asked_alone_tells_what_is_now()
    {
        await using var fixture = new ContextFixture(time: new ManualTimeProvider()); // Whose clock stands still.
        using MeterListener one = Meter(fixture.Context, "zlink.socket.sent", out Func<long> sent);
        using MeterListener other = Meter(fixture.Context, "zlink.socket.received", out Func<long> received);
        PairSocket here = fixture.Context.CreatePair();
        PairSocket there = fixture.Context.CreatePair();
        here.Bind("inproc://alone");
        there.Connect("inproc://alone");
        for (int i = 0; i < 3; i++)
        {
            Assert.Equal((i, i), (sent(), received()));
            here.Send([1]);
            Assert.Equal((i + 1, i + 1), (received(), sent()));
        }
    }

    [Fact]
    public async Task A_collection_costs_as_much_memory_with_hundreds_of_sockets_as_with_two()
    {
        const int Sockets = 300;
        await using var fixture = new ContextFixture();
        PairSocket first = fixture.Context.CreatePair();
        first.Bind("inproc://0");
        fixture.Context.CreatePair().Connect("inproc://0");
        using var listener = new MeterListener();
        listener.InstrumentPublished = (instrument, l) =>
        {
            if (ReferenceEquals(instrument.Meter.Scope, fixture.Context))
            {
                l.EnableMeasurementEvents(instrument);
            }
        };
        listener.Start();
        long ofTwo = Allocations.Of(listener.RecordObservableInstruments, rounds: 3);
        for (int i = 1; i < Sockets; i++)
        {
            fixture.Context.CreatePair().Bind($"inproc://{i}");
            fixture.Context.CreatePair().Connect($"inproc://{i}");
        }

        // Each of them would be 7 KB, of which thirteen objects of counts are the most.
        long ofMany = Allocations.Of(listener.RecordObservableInstruments, rounds: 3);
        Assert.InRange(ofMany, 0, ofTwo + (3 * Sockets));
    }

    /// <summary>A listener of one instrument, as a test of an application has one.</summary>
    private static MeterListener Meter(ZlinkContext context, string name, out Func<long> value)
    {
        long sum = 0;
        var listener = new MeterListener();
        listener.InstrumentPublished = (instrument, l) =>
        {
            if (ReferenceEquals(instrument.Meter.Scope, context) && string.Equals(instrument.Name, name, StringComparison.Ordinal))
            {
                l.EnableMeasurementEvents(instrument);
            }
        };
        listener.SetMeasurementEventCallback<long>((_, one, _, _) => sum += one);
        listener.Start();
        value = () =>
        {
            sum = 0;
            listener.RecordObservableInstruments();
            return sum;
        };
        return listener;
    }
}
