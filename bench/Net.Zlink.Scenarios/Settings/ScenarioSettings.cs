namespace Net.Zlink.Scenarios.Settings;

/// <summary>All that decides about a run's figures. The defaults are the fixed profile: figures of different machines and days then answer
/// the same question.</summary>
internal sealed record ScenarioSettings
{
    public Scenario Scenario { get; init; } = Scenario.S2;

    /// <summary>tcp, tls, ws or wss.</summary>
    public string Transport { get; init; } = "tcp";

    /// <summary>Connections ("ccu").</summary>
    public int Connections { get; init; } = 10_000;

    /// <summary>Payload bytes of a message.</summary>
    public int Size { get; init; } = 1024;

    /// <summary>Messages that each connection keeps on their way.</summary>
    public int InFlight { get; init; } = 30;

    public double WarmupSeconds { get; init; } = 3;

    public double MeasureSeconds { get; init; } = 10;

    /// <summary>How long the replies that are still missing at the end may take.</summary>
    public double DrainTimeoutSeconds { get; init; } = 10;

    /// <summary>Connections that are being made at the same time.</summary>
    public int ConnectConcurrency { get; init; } = 256;

    /// <summary>How long one connection may take, its handshakes included.</summary>
    public double ConnectTimeoutSeconds { get; init; } = 10;

    /// <summary>The server's queue of connections that wait to be accepted; the kernel cuts it to net.core.somaxconn.</summary>
    public int Backlog { get; init; } = 32_768;

    /// <summary>Messages per connection and direction that a stack may queue, where it counts them.</summary>
    public int HighWaterMark { get; init; } = 1_000_000;

    /// <summary>Shards or I/O threads of a server that lets one choose.</summary>
    public int Shards { get; init; } = Environment.ProcessorCount;

    /// <summary>Messages that the client hands to the kernel in one call, at most.</summary>
    public int SendBatch { get; init; } = 30;

    /// <summary>Each so manyth reply is timed.</summary>
    public int LatencySampleRate { get; init; } = 16;

    /// <summary>The runtime's switch of that name, for every .NET server alike.</summary>
    public bool InlineCompletions { get; init; }
}
