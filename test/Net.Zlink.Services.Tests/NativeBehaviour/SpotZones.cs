using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests;

/// <summary>A field of zones that are spread over nodes; each zone's subscriber subscribes its own topic and those of its
/// neighbours.</summary>
internal static class SpotZones
{
    private const string Service = "spot-field-mmorpg";
    private static readonly (int X, int Y)[] Steps = [(0, 0), (-1, 0), (1, 0), (0, -1), (0, 1)];

    public static async Task RunAsync(int nodes, int width, int height)
    {
        await using var scene = new SpotScene();
        string name = Guid.NewGuid().ToString("N");
        await using ServiceRegistry registry = Start(scene, name);
        await using RegistryDirectory discovery = Discover(scene, name);
        SpotNode[] all = new SpotNode[nodes];
        for (int i = 0; i < nodes; i++)
        {
            all[i] = nodes == 1 ? scene.Create() : await AddAsync(scene, discovery, name, Service);
        }

        foreach (SpotNode node in all)
        {
            await node.WaitForPeersAsync(nodes - 1, Guard.Token).Guarded();
        }

        SpotSubscriber[] zones = [.. Enumerable.Range(0, width * height).Select(zone => all[zone % nodes].CreateSubscriber())];
        for (int zone = 0; zone < zones.Length; zone++)
        {
            foreach (int neighbour in Neighbours(zone, width, height))
            {
                zones[zone].Subscribe(TopicOf(neighbour, width));
            }
        }

        // The filters of each node have reached each other node: the last one that it sent has.
        foreach (SpotNode node in all)
        {
            SpotSubscriber last = node.CreateSubscriber();
            last.Subscribe("last");
            foreach (SpotNode other in all.Where(other => other != node))
            {
                await scene.UntilFilteredAsync(other, last, "last");
            }

            last.Dispose();
        }

        for (int zone = 0; zone < zones.Length; zone++)
        {
            Assert.True(all[zone % nodes].TryPublish(TopicOf(zone, width), BitConverter.GetBytes(zone)));
        }

        for (int zone = 0; zone < zones.Length; zone++)
        {
            HashSet<int> expected = [.. Neighbours(zone, width, height)];
            while (expected.Count > 0)
            {
                using SpotMessage message = await zones[zone].ReceiveAsync(Guard.Token).Guarded();
                int from = BitConverter.ToInt32(message.Span);
                Assert.True(expected.Remove(from), $"zone {zone} received that of {from} twice, or without a subscription");
                Assert.Equal(TopicOf(from, width), message.Topic);
            }

            Assert.False(zones[zone].TryReceive(out _));
        }
    }

    public static ServiceRegistry Start(SpotScene scene, string name)
    {
        var registry = new ServiceRegistry(scene.Context, new ServiceRegistryOptions
        {
            PublisherEndpoint = $"inproc://spot-reg-pub-{name}",
            RouterEndpoint = $"inproc://spot-reg-router-{name}",
        });
        registry.Start();
        return registry;
    }

    public static RegistryDirectory Discover(SpotScene scene, string name)
    {
        var discovery = new RegistryDirectory(scene.Context, ServiceKind.SpotNode);
        discovery.ConnectRegistry($"inproc://spot-reg-pub-{name}");
        return discovery;
    }

    public static async Task<SpotNode> AddAsync(SpotScene scene, RegistryDirectory discovery, string registry, string service)
    {
        SpotNode node = scene.Create();
        string endpoint = node.Bind("tcp://127.0.0.1:*");
        node.ConnectRegistry($"inproc://spot-reg-router-{registry}");
        await node.RegisterAsync(service, endpoint, Guard.Token).Guarded();
        node.UseDirectory(discovery, service);
        return node;
    }

    private static string TopicOf(int zone, int width) => $"field-mm:{zone % width}:{zone / width}:state";

    private static IEnumerable<int> Neighbours(int zone, int width, int height)
    {
        (int x, int y) = (zone % width, zone / width);
        return from step in Steps
               where x + step.X >= 0 && x + step.X < width && y + step.Y >= 0 && y + step.Y < height
               select ((y + step.Y) * width) + x + step.X;
    }
}
