using System.Globalization;
using Net.Zlink.Services.Tests.Support;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests;

/// <summary>Design 5.5: services that come, change and go at three registries are in the end seen by all as they are.</summary>
public class ChurnTests
{
    private const int Receivers = 6;
    private const int Services = 5;

    [Fact]
    public async Task Random_registrations_weights_and_removals_are_seen_by_every_registry_and_discovery()
    {
        int seed = Environment.TickCount;
        var random = new Random(seed);
        await using var fixture = new RegistryFixture();
        ServiceRegistry[] registries = [.. Enumerable.Range(1, 3).Select(id => fixture.Start(options => options.Id = (uint)id))];
        foreach (ServiceRegistry registry in registries)
        {
            foreach (ServiceRegistry other in registries.Where(other => other != registry))
            {
                registry.AddPeer(other.PublisherEndpoint);
            }
        }

        RegistryDirectory[] discoveries = [.. Enumerable.Range(0, 3).Select(_ =>
            fixture.Fixture.Own(new RegistryDirectory(fixture.Context)))];
        ServiceReceiver[] receivers = [.. Enumerable.Range(0, Receivers).Select(_ =>
            fixture.Fixture.Own(new ServiceReceiver(fixture.Context)))];
        foreach (ServiceRegistry registry in registries)
        {
            Array.ForEach(discoveries, discovery => discovery.ConnectRegistry(registry.PublisherEndpoint));
            Array.ForEach(receivers, receiver => receiver.ConnectRegistry(registry.RouterEndpoint));
        }

        var model = new Dictionary<(int Receiver, int Service), ServiceRegistration>();
        for (int step = 0; step < Faults.Rounds(60, more: 500, byHand: 20_000); step++)
        {
            (int Receiver, int Service) key = (random.Next(Receivers), random.Next(Services));
            uint weight = (uint)random.Next(1, 100);
            if (!model.TryGetValue(key, out ServiceRegistration? registration))
            {
                model[key] = receivers[key.Receiver].Register($"s{key.Service}", $"tcp://127.0.0.1:{key.Receiver + 1}", weight);
            }
            else if (random.Next(2) == 0)
            {
                await registration.UpdateWeightAsync(weight, Guard.Token).Guarded();
            }
            else
            {
                model.Remove(key);
                await registration.DisposeAsync().Guarded();
            }
        }

        string[] expected =
            [.. model.Values.Select(static one => Show(one.Service, one.Endpoint, one.Weight)).Order(StringComparer.Ordinal)];
        foreach (ServiceRegistry registry in registries)
        {
            await Guard.UntilAsync(
                () => expected.SequenceEqual(
                    Shown(registry.GetSnapshot().Entries.Select(static entry => entry.Instance)), StringComparer.Ordinal),
                $"registry {registry.Id} lists what is registered, with seed {seed}");
        }

        foreach (RegistryDirectory discovery in discoveries)
        {
            await Guard.UntilAsync(
                () => expected.SequenceEqual(
                    Shown(discovery.GetServices().SelectMany(static one => one.Instances)), StringComparer.Ordinal),
                $"a discovery shows what is registered, with seed {seed}");
        }
    }

    private static IEnumerable<string> Shown(IEnumerable<ServiceInstance> instances) =>
        instances.Select(static one => Show(one.Service, one.Endpoint, one.Weight)).Order(StringComparer.Ordinal);

    private static string Show(string service, string endpoint, uint weight) =>
        string.Create(CultureInfo.InvariantCulture, $"{service} {endpoint} {weight}");
}
