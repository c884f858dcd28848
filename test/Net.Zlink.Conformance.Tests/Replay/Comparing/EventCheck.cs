using Net.Zlink.Conformance.Tests.Replay.Driving;
using Net.Zlink.Conformance.Tests.Replay.Model;
using Net.Zlink.Conformance.Tests.Sides;

namespace Net.Zlink.Conformance.Tests.Replay.Comparing;

/// <summary>The monitor's events. A file's step is when they were read, so here it is the latest step in which they may come.</summary>
internal sealed class EventCheck(IImplementedSide side, PlayedNetwork network, RandomValues random, Stillness stillness)
{
    private readonly List<ReceivedEvent> _received = [];
    private readonly List<ReceivedEvent> _aside = [];

    /// <summary>Waits until that many events have come since the start. Of a connection that was not recorded most files list no events,
    /// and one does: they count where they are needed.</summary>
    public async Task AwaitCountAsync(int count, int step)
    {
        while (_received.Count + _aside.Count < count)
        {
            ReceivedEvent? received = null;
            if (!await stillness.HasComeAsync(
                () => side.TryReadEvent(out received!), async cancellation => received = await side.ReadEventAsync(cancellation)))
            {
                throw new ReplayFailedException(
                    $"step {step}: {count} events are expected by now, there are {_received.Count}: {Show(_received)}");
            }

            Add(received!);
        }
    }

    /// <summary>At the end: these events and no others, in order on each connection.</summary>
    public void Complete(IReadOnlyList<MonitorEvent> expected)
    {
        while (side.TryReadEvent(out ReceivedEvent more))
        {
            Add(more);
        }

        if (!Interleaving.Exists(expected, Lines(_received), Same)
            && (_aside.Count == 0 || !Interleaving.Exists(expected, Lines(_received.Concat(_aside)), Same)))
        {
            throw new ReplayFailedException($"events: expected {Show(expected)}, got {Show(_received)}");
        }
    }

    private static IReadOnlyList<ReceivedEvent>[] Lines(IEnumerable<ReceivedEvent> events)
        => [.. events.GroupBy(received => received.Connection, StringComparer.Ordinal)
            .Select(line => (IReadOnlyList<ReceivedEvent>)[.. line])];

    private void Add(ReceivedEvent received) => (network.IsOfUnrecorded(received) ? _aside : _received).Add(received);

    private bool Same(MonitorEvent expected, ReceivedEvent actual)
        => string.Equals(expected.Name, actual.Name, StringComparison.Ordinal)
            && (expected.Noise || expected.Value == actual.Value)
            && random.Compare(expected.RoutingId, actual.RoutingId, expected.Random) is null;

    private static string Show(IEnumerable<MonitorEvent> events)
        => "[" + string.Join(", ", events.Select(
            e => $"{e.Name} {(e.Noise ? "any" : e.Value)} rid {Convert.ToHexStringLower(e.RoutingId)}")) + "]";

    private static string Show(IEnumerable<ReceivedEvent> events)
        => "[" + string.Join(", ", events.Select(e => $"{e.Name} {e.Value} rid {Convert.ToHexStringLower(e.RoutingId)} on {e.Connection}"))
            + "]";
}
