using System.Globalization;
using Xunit;

namespace Net.Zlink.Services.Tests;

/// <summary>The registry's state beside a model of thirty lines: random requests and times, the same answers, entries and list
/// numbers.</summary>
public sealed class RegistryStateModelTests
{
    private static readonly TimeSpan Lease = TimeSpan.FromSeconds(3);

    [Fact]
    public void Random_requests_have_the_answers_and_effects_that_the_model_says()
    {
        for (int run = 0; run < 200; run++)
        {
            int seed = Random.Shared.Next();
            Play(new Random(seed), string.Create(CultureInfo.InvariantCulture, $"seed {seed}"));
        }
    }

    private static void Play(Random random, string run)
    {
        const int MaxEntries = 6;
        var state = new RegistryState(new RegistrySettings(7, Lease, TimeSpan.FromHours(1), MaxEntries), sequence: 100);
        var model = new Dictionary<(string Service, string Endpoint), (uint Weight, string Id, TimeSpan LastSign)>();
        ulong sequence = 100;
        TimeSpan now = TimeSpan.Zero;
        for (int i = 0; i < 200; i++)
        {
            (string Service, string Endpoint) key = ($"s{random.Next(3)}", $"e{random.Next(4)}");
            uint weight = (uint)random.Next(1, 4);
            string id = $"id{random.Next(2)}";
            string expected = "";
            ushort message = (ushort)(random.Next(10) switch
            {
                < 3 => MessageIds.Register,
                < 5 => MessageIds.UpdateWeight,
                < 7 => MessageIds.Heartbeat,
                < 8 => MessageIds.Unregister,
                _ => 0
            });
            bool isThere = model.TryGetValue(key, out (uint Weight, string Id, TimeSpan LastSign) entry);
            switch (message)
            {
                case MessageIds.Register when !isThere && model.Count >= MaxEntries:
                    expected = "2 registry full";
                    break;
                case MessageIds.Register:
                    sequence += isThere && (entry.Weight, entry.Id) == (weight, id) ? 0UL : 1;
                    (model[key], expected) = ((weight, id, now), "0 ");
                    break;
                case MessageIds.UpdateWeight when isThere:
                    sequence += entry.Weight == weight ? 0UL : 1;
                    (model[key], expected) = ((weight, entry.Id, now), "0 ");
                    break;
                case MessageIds.UpdateWeight:
                    expected = model.Keys.Any(other => string.Equals(other.Service, key.Service, StringComparison.Ordinal))
                        ? "1 provider not found" : "1 service not found";
                    break;
                case MessageIds.Heartbeat when isThere:
                    model[key] = entry with { LastSign = now };
                    break;
                case MessageIds.Unregister when isThere:
                    model.Remove(key);
                    sequence++;
                    break;
                case 0:
                    for (int tick = random.Next(1, 15); tick > 0; tick--)
                    {
                        now += RegistryState.ShortestTick;
                        (string, string)[] expired = [.. model.Where(one => now - one.Value.LastSign > Lease)
                            .Select(static one => one.Key)];
                        Array.ForEach(expired, one => model.Remove(one));
                        sequence += expired.Length > 0 ? 1UL : 0;
                        state.Tick(now);
                    }

                    break;
            }

            RegistryAck? ack = state.Handle(now, new RegistryRequest(
                message, new EntryKey(new ServiceKey(1, new ServiceText(key.Service)), new ServiceText(key.Endpoint)), weight),
                RoutingId.FromText(id));
            Assert.True(string.Equals(expected, ack is { } said ? $"{said.Status} {said.Error}" : "", StringComparison.Ordinal),
                $"{run}, step {i}: expected \"{expected}\", was {ack}");
            Assert.True(sequence == state.Sequence, $"{run}, step {i}: list {sequence} expected, was {state.Sequence}");
            string[] entries = [.. model.Select(static one => $"{one.Key.Service} {one.Key.Endpoint} {one.Value.Id} {one.Value.Weight}")
                .Order(StringComparer.Ordinal)];
            Assert.True(entries.SequenceEqual(Show(state.All), StringComparer.Ordinal)
                && entries.SequenceEqual(Show(state.Own), StringComparer.Ordinal),
                $"{run}, step {i}: {string.Join(", ", entries)} expected, was {string.Join(", ", Show(state.All))}");
        }
    }

    private static IEnumerable<string> Show(ListedService[] services) =>
        services.SelectMany(static service => service.Instances.Select(
            instance => $"{service.Key.Name} {instance.Endpoint} {instance.RoutingId} {instance.Weight}"));
}
