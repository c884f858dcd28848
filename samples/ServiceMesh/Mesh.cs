using System.Net;
using System.Net.Sockets;

namespace ServiceMesh;

/// <summary>All processes, and the network between the registries.</summary>
internal sealed class Mesh : IAsyncDisposable
{
    private const int Count = 3;
    private static readonly TimeSpan MaxStart = TimeSpan.FromSeconds(20);
    private static readonly TimeSpan LookInterval = TimeSpan.FromMilliseconds(50);

    private readonly Dictionary<(int From, int To), Relay> _relays = [];

    private Mesh(int rate, bool losesRequest)
    {
        Rate = rate;
        int[] ports = FreePorts(3 * Count);
        int[] publishers = ports[..Count];
        int[] routers = ports[Count..(2 * Count)];
        foreach (int from in Enumerable.Range(0, Count))
        {
            foreach (int to in Enumerable.Range(0, Count).Where(to => to != from))
            {
                _relays.Add((from, to), new Relay(publishers[to]));
            }
        }

        Registries = [.. Enumerable.Range(0, Count).Select(i => new MeshProcess($"registry {i + 1}", new RoleSettings
        {
            Kind = RoleKind.Registry,
            Number = i + 1,
            Publisher = EndpointOf(publishers[i]),
            Endpoint = EndpointOf(routers[i]),
            Others = [.. _relays.Where(relay => relay.Key.From == i).Select(static relay => relay.Value.Endpoint)],
        }))];
        Receivers = [.. Enumerable.Range(0, Count).Select(i => new MeshProcess($"receiver {i + 1}", new RoleSettings
        {
            Kind = RoleKind.Receiver,
            Number = i + 1,
            Endpoint = EndpointOf(ports[(2 * Count) + i]),
            Others = [.. routers.Select(EndpointOf)],
            LosesRequest = losesRequest && i == 0,
        }))];
        Gateway = new MeshProcess("gateway", new RoleSettings { Kind = RoleKind.Gateway, Others = [.. publishers.Select(EndpointOf)] });
    }

    public MeshProcess[] Registries { get; }

    public MeshProcess[] Receivers { get; }

    public MeshProcess Gateway { get; }

    /// <summary>Requests a second.</summary>
    public int Rate { get; }

    public IEnumerable<MeshProcess> All => [.. Registries, .. Receivers, Gateway];

    /// <summary>Starts everything, and returns when the gateway has three receivers.</summary>
    public static async Task<Mesh> StartAsync(int rate, bool losesRequest, CancellationToken stop)
    {
        var mesh = new Mesh(rate, losesRequest);
        foreach (MeshProcess process in mesh.All)
        {
            await process.StartAsync();
        }

        if (!await WaitUntilAsync(() => mesh.Gateway.Status.Listed.Length == Count, MaxStart, stop))
        {
            string why = string.Join(' ', mesh.All.Select(static process => process.Status.Remark));
            await mesh.DisposeAsync();
            throw new TimeoutException($"the processes did not find each other within {MaxStart.TotalSeconds} s {why.Trim()}");
        }

        return mesh;
    }

    /// <summary>Cuts one registry off from the other two, or mends that.</summary>
    public void SetCut(int registry, bool isCut)
    {
        foreach (Relay relay in _relays.Where(relay => relay.Key.From == registry || relay.Key.To == registry)
            .Select(static relay => relay.Value))
        {
            if (isCut)
            {
                relay.Cut();
            }
            else
            {
                relay.Mend();
            }
        }
    }

    /// <summary>The gateway begins to send so many requests.</summary>
    public void Ask(long count) => Gateway.Send(FormattableString.Invariant($"ask {Rate} {count}"));

    /// <returns>False: it did not become so in that time.</returns>
    public static async Task<bool> WaitUntilAsync(Func<bool> isSo, TimeSpan most, CancellationToken stop)
    {
        long begin = TimeProvider.System.GetTimestamp();
        while (!isSo())
        {
            if (TimeProvider.System.GetElapsedTime(begin) > most)
            {
                return false;
            }

            await Task.Delay(LookInterval, stop);
        }

        return true;
    }

    public async ValueTask DisposeAsync()
    {
        await Task.WhenAll(All.Select(static process => process.StopAsync()));
        foreach (MeshProcess process in All)
        {
            await process.DisposeAsync();
        }

        foreach (Relay relay in _relays.Values)
        {
            relay.Dispose();
        }
    }

    private static string EndpointOf(int port) => FormattableString.Invariant($"tcp://127.0.0.1:{port}");

    /// <summary>Ports that are free now. They are fixed, since a process that is started again must be found where it was.</summary>
    private static int[] FreePorts(int count)
    {
        TcpListener[] listeners = [.. Enumerable.Range(0, count).Select(static _ => new TcpListener(IPAddress.Loopback, 0))];
        Array.ForEach(listeners, static listener => listener.Start());
        int[] ports = [.. listeners.Select(static listener => ((IPEndPoint)listener.LocalEndpoint).Port)];
        Array.ForEach(listeners, static listener => listener.Dispose());
        return ports;
    }
}
