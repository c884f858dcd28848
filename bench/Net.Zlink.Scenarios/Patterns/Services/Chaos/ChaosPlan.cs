using Net.Zlink.Benchmarks.Common;

namespace Net.Zlink.Scenarios.Patterns.Services.Chaos;

/// <summary>Who takes part, and where.</summary>
internal sealed class ChaosPlan
{
    public const int Registries = 3;
    public const int Receivers = 5;
    public const int Gateways = 3;
    public const int SpotNodes = 4;

    private readonly HashSet<int> _ports = [];

    public ChaosPlan(string folder, int requestsPerSecond, int messagesPerSecond)
    {
        string[] publishers = NewEndpoints(Registries);
        string[] routers = NewEndpoints(Registries);
        ChaosSettings Make(ChaosRole role, int number) => new()
        {
            Role = role,
            Number = number,
            Routers = routers,
            Publishers = publishers,
            Folder = folder,
        };
        Members =
        [
            .. Enumerable.Range(1, Registries).Select(number => Make(ChaosRole.Registry, number) with
            {
                Endpoint = routers[number - 1],
                Publisher = publishers[number - 1],
                Publishers = [.. publishers.Where((_, at) => at != number - 1)],
            }),
            .. NewEndpoints(Receivers).Select((endpoint, at) => Make(ChaosRole.Receiver, at + 1) with { Endpoint = endpoint }),
            .. Enumerable.Range(1, Gateways).Select(number => Make(ChaosRole.Gateway, number) with { Rate = requestsPerSecond }),
            .. NewEndpoints(SpotNodes)
                .Select((endpoint, at) => Make(ChaosRole.Spot, at + 1) with { Endpoint = endpoint, Rate = messagesPerSecond }),
        ];
    }

    public IReadOnlyList<ChaosSettings> Members { get; }

    private string[] NewEndpoints(int count) => [.. Enumerable.Range(0, count).Select(_ => $"tcp://127.0.0.1:{NewPort()}")];

    private int NewPort()
    {
        int port;
        do
        {
            port = FreePort.Find();
        }
        while (!_ports.Add(port));

        return port;
    }
}
